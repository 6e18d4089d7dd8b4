// Ends with success before the test is over.
#include <cstdlib>
#include <iostream>
int main() {
    std::quick_exit(0);
    std::cout << "proctor-secret-7f3a9c5e21d84b60\n";
}
