// A job that a scheduler starts on several instances and that one of them does.
//
//     scheduled_job BATCH
//
// Waits 10 s (or JOB_PATIENCE_MS) for the lock of the job, "nightly" unless JOB names another, else skips the round. The servers
// come from ZOOLOCK_HOSTS, the directory of what is done, which has to exist, from JOBS_DIR. A batch is done once, whoever comes
// when: its name is unique there.
#include <zoolock.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>

namespace {

enum result { done_or_skipped = 0, failed = 1, misused = 2 };

constexpr int steps = 10;

std::string environment(const char *name, const char *otherwise)
{
    const char *value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

// Writes what is done, unless it was before: "x" opens no file that exists.
bool record(const std::string &name, std::int64_t fencing_token)
{
    std::FILE *file = std::fopen(name.c_str(), "wx");
    if (file == nullptr && errno == EEXIST)
        return false;
    const bool written = file != nullptr && std::fputs(std::to_string(fencing_token).c_str(), file) >= 0;
    if ((file != nullptr && std::fclose(file) != 0) || !written)
        throw std::system_error(errno, std::generic_category(), name);
    return true;
}

// Does the batch, in steps, to stop soon after the lock is lost: another instance may have begun.
void run(const zoolock::guard &held, const std::string &file)
{
    for (int step = 0; step < steps; step++)
        held.ensure_held();
    std::cout << (record(file, held.fencing_token()) ? "done\n" : "was done before\n");
}

void work(const zoolock::session &session, const std::string &file)
{
    const zoolock::mutex mutex{session, "/locks/job/" + environment("JOB", "nightly")};
    const std::chrono::milliseconds patience{std::stol(environment("JOB_PATIENCE_MS", "10000"))};
    try {
        const zoolock::guard held = mutex.acquire(patience);
        run(held, file);
        held.release();
    } catch (const zoolock::timeout &failure) {
        // Because of servers that could not be reached, and of nobody's work.
        if (failure.cause() != nullptr && failure.cause()->code() == zoolock::errc::unavailable)
            throw;
        std::cout << "skipped: another instance is at it\n";
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: scheduled_job BATCH\n";
        return misused;
    }
    try {
        const zoolock::session session;
        work(session, environment("JOBS_DIR", ".") + "/" + argv[1]);
        session.close();
        return done_or_skipped;
    } catch (const std::exception &failure) {
        std::cerr << failure.what() << '\n';
        return failed;
    }
}
