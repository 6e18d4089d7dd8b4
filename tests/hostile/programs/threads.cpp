// Starts threads without end.
#include <chrono>
#include <thread>
int main() {
    for (;;) {
        try {
            std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(60)); }).detach();
        } catch (...) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}
