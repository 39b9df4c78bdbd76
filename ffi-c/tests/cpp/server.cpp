// A server for the examples, on which another program holds the locks named: prints its connect string, and ends with its
// standard input.
//
//     server PATH...
#include <zoolock.hpp>
#include <zoolock/testing.hpp>

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
    const zoolock::testing::server server;
    const zoolock::session session{server.hosts()};
    std::vector<zoolock::guard> held;
    for (int i = 1; i < argc; i++)
        held.push_back(zoolock::mutex(session, argv[i]).acquire());
    std::cout << server.hosts() << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
    }
    return 0;
}
