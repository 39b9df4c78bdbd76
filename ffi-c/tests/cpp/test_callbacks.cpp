// Callbacks that throw, call back into the API, or never return; and the log.
#include "support.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// A log callback for as long as this lives: what it refers to has to live until the library has let go of it.
class Log {
public:
    template <class Callback>
    Log(zoolock::log_level level, Callback callback)
    {
        const std::shared_ptr<void> token(nullptr, [this](void *) { gone_.happens(); });
        zoolock::set_log_callback(level, [callback, token](zoolock::log_level of, std::string_view target, std::string_view message) {
            callback(of, target, message);
        });
    }

    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;

    ~Log()
    {
        zoolock::clear_log_callback();
        EXPECT_TRUE(gone_.awaited());
    }

private:
    Event gone_;
};

// Lines of the log.
class Lines {
public:
    explicit Lines(zoolock::log_level level)
        : log_(level, [this](zoolock::log_level of, std::string_view target, std::string_view message) {
              const std::lock_guard hold(mutex_);
              lines_.push_back(std::to_string(static_cast<int>(of)) + " " + std::string(target) + " " + std::string(message));
          })
    {
    }

    // Whether there is a line with this text, or one soon comes.
    bool tell(const std::string &text)
    {
        return eventually([&] { return !with(text).empty(); });
    }

    std::vector<std::string> with(const std::string &text)
    {
        const std::lock_guard hold(mutex_);
        std::vector<std::string> found;
        for (const std::string &line : lines_)
            if (line.find(text) != std::string::npos)
                found.push_back(line);
        return found;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
    // Last, to end first.
    Log log_;
};

struct Callbacks : Locks {
    // A callback that ends only with the test.
    void block_the_callback_thread(const zoolock::guard &held)
    {
        held.on_lost([this] {
            blocked.happens();
            end.awaited();
        });
        ASSERT_TRUE(server.expire_session(session.id()));
        ASSERT_TRUE(blocked.awaited());
    }

    Event blocked, end;
};

} // namespace

TEST_F(Callbacks, what_a_callback_throws_goes_to_the_log_and_the_next_is_called)
{
    Lines lines(zoolock::log_level::error);
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    Event called;
    held.on_lost([] { throw std::runtime_error("the sky falls"); });
    held.on_lost([] { throw 42; });
    held.on_lost([&] { called.happens(); });
    session.on_state([](zoolock::session_state) { throw std::runtime_error("no state suits me"); });
    mutex.acquire_async([&](zoolock::acquisition outcome) {
        // A guard that nobody took by then is let go.
        EXPECT_TRUE(outcome.granted() || !outcome.busy());
        throw std::runtime_error("no outcome suits me");
    });
    ASSERT_TRUE(server.expire_session(session.id()));
    EXPECT_TRUE(called.awaited());
    EXPECT_TRUE(lines.tell("on_lost") && lines.tell("the sky falls"));
    EXPECT_TRUE(lines.tell("no std::exception"));
    EXPECT_TRUE(lines.tell("no state suits me"));
    EXPECT_TRUE(lines.tell("no outcome suits me"));
    EXPECT_TRUE(eventually([&] { return contenders() == 0; }));
}

TEST_F(Callbacks, what_a_callback_throws_goes_to_standard_error_without_a_log)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    Event called;
    held.on_lost([] { throw std::runtime_error("the sky falls"); });
    held.on_lost([&] { called.happens(); });
    testing::internal::CaptureStderr();
    ASSERT_TRUE(server.expire_session(session.id()));
    EXPECT_TRUE(called.awaited());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("on_lost: the sky falls"), std::string::npos) << said;
}

TEST_F(Callbacks, a_log_callback_that_throws_is_called_again)
{
    Event called;
    testing::internal::CaptureStderr();
    {
        const Log log(zoolock::log_level::debug, [&](zoolock::log_level, std::string_view, std::string_view) {
            called.happens();
            throw std::runtime_error("the disk is full");
        });
        // Each tells of a connection that is lost.
        for (int round = 1; round <= 2; round++) {
            ASSERT_TRUE(eventually([&] { return server.cut_all() > 0; }));
            EXPECT_TRUE(called.awaited(round));
        }
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("log callback: the disk is full"), std::string::npos);
}

TEST_F(Callbacks, callbacks_may_call_back)
{
    zoolock::mutex mutex(session, path), other(session, "/locks/b");
    const zoolock::session theirs = another_session();
    zoolock::mutex elsewhere(theirs, "/locks/c");
    Event done;
    std::optional<zoolock::guard> kept(mutex.acquire());
    kept->on_lost([&] {
        // What it is told of, other locks, and a second callback.
        EXPECT_THROW(kept->release(), zoolock::lock_lost);
        kept->on_lost([&] { done.happens(); });
        kept.reset();
        const zoolock::guard held = elsewhere.acquire(patience);
        EXPECT_EQ(elsewhere.contenders().size(), 1U);
        held.release();
        done.happens();
    });
    ASSERT_TRUE(server.expire_session(session.id()));
    ASSERT_TRUE(done.awaited(2));
    other.acquire_async([&](zoolock::acquisition outcome) {
        // On the callback thread, which is the owner then.
        const zoolock::guard first = outcome.get();
        const std::unique_lock second(elsewhere, patience);
        EXPECT_TRUE(second);
        mutex.acquire_async([&](zoolock::acquisition later) {
            later.get().release();
            done.happens();
        });
        first.release();
    });
    EXPECT_TRUE(done.awaited(3));
}

TEST_F(Callbacks, r17_a_session_may_be_closed_in_a_callback_of_its_own)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    Event closed, lost;
    held.on_lost([&] { lost.happens(); });
    session.on_state([&](zoolock::session_state state) {
        if (state == zoolock::session_state::suspended)
            session.close();
        if (state == zoolock::session_state::closed)
            closed.happens();
    });
    ASSERT_EQ(server.cut_all(), 1U);
    EXPECT_TRUE(closed.awaited());
    EXPECT_TRUE(lost.awaited());
    EXPECT_EQ(session.state(), zoolock::session_state::closed);
    EXPECT_TRUE(eventually([&] { return contenders() == 0; }));
}

TEST_F(Callbacks, a_callback_may_end_the_session_object)
{
    auto own = std::make_unique<zoolock::session>(server.hosts(), session_options());
    const std::int64_t id = own->id();
    Event ended;
    own->on_state([&](zoolock::session_state state) {
        if (state == zoolock::session_state::suspended) {
            own.reset();
            ended.happens();
        }
    });
    ASSERT_TRUE(server.cut_session(id));
    ASSERT_TRUE(ended.awaited());
    EXPECT_TRUE(eventually([&] { return server.sessions().size() == 1; }));
}

TEST_F(Callbacks, r03_a_callback_that_never_returns_costs_no_lock)
{
    zoolock::mutex mutex(session, path);
    const zoolock::session theirs = another_session();
    zoolock::mutex other(theirs, "/locks/b");
    const zoolock::guard held = other.acquire();
    const zoolock::guard lost = mutex.acquire();
    block_the_callback_thread(lost);
    // Longer than any lease lives without being renewed (R3).
    EXPECT_FALSE(held.wait_lost(session_timeout));
    EXPECT_TRUE(held.held());
    held.release();
    // Locks are taken, waited for, cancelled and released as ever.
    const zoolock::guard again = mutex.acquire(patience);
    EXPECT_THROW((void)mutex.acquire(50ms), zoolock::timeout);
    std::thread waiting([&] { mutex.acquire(patience).release(); });
    EXPECT_TRUE(eventually([&] { return contenders() == 2; }));
    again.release();
    waiting.join();
    // And so do sessions end.
    theirs.close();
    session.close();
    end.happens();
}

TEST_F(Callbacks, r17_a_process_with_a_callback_that_never_returns_ends)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard lost = mutex.acquire();
    block_the_callback_thread(lost);
    // The end of the process is the test: it has a limit.
    const auto start = std::chrono::steady_clock::now();
    session.close();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    std::exit(HasFailure() ? 1 : 0);
}

TEST_F(Callbacks, a_log_callback_that_never_returns_costs_no_lock)
{
    Event within;
    const Log log(zoolock::log_level::trace, [&](zoolock::log_level, std::string_view, std::string_view) {
        within.happens();
        end.awaited();
    });
    server.cut_all();
    ASSERT_TRUE(within.awaited());
    zoolock::mutex mutex(session, path);
    for (int round = 0; round < 20; round++)
        mutex.acquire(patience).release();
    EXPECT_EQ(within.count(), 1);
    end.happens();
}

TEST_F(Callbacks, a_new_log_callback_takes_the_place_of_the_old_one)
{
    const auto resource = std::make_shared<int>(1);
    zoolock::set_log_callback(zoolock::log_level::debug, [resource](zoolock::log_level, std::string_view, std::string_view) {});
    EXPECT_GT(resource.use_count(), 1);
    Lines lines(zoolock::log_level::info);
    EXPECT_TRUE(eventually([&] { return resource.use_count() == 1; }));
    ASSERT_EQ(server.cut_all(), 1U);
    EXPECT_TRUE(lines.tell("the connection is lost"));
    EXPECT_EQ(lines.with("the connection is lost").front().find("3 zoolock"), 0U);
    // Of a level that is not wanted.
    EXPECT_TRUE(lines.with("4 ").empty());
    EXPECT_THROW(zoolock::set_log_callback(static_cast<zoolock::log_level>(9), [](zoolock::log_level, std::string_view, std::string_view) {}),
                 zoolock::invalid_argument);
}

TEST_F(Callbacks, r19_no_line_has_a_secret)
{
    Lines lines(zoolock::log_level::trace);
    const std::string secret = "sesame-7f3a";
    const zoolock::session guarded(server.hosts(), session_options().auth("digest", "ann:" + secret));
    zoolock::mutex mutex(guarded, "/guarded/a");
    mutex.acquire(patience).release();
    zoolock::mutex denied(session, "/guarded/a");
    EXPECT_THROW((void)denied.acquire(patience), zoolock::no_auth);
    EXPECT_THROW(zoolock::session(server.hosts(), zoolock::session_options().auth("", secret)), zoolock::invalid_argument);
    server.cut_all();
    EXPECT_TRUE(lines.tell("the connection is lost"));
    mutex.acquire(patience).release();
    guarded.close();
    EXPECT_TRUE(lines.with(secret).empty()) << lines.with(secret).front();
}
