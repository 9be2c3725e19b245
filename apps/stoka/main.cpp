// Entry point of the program. The commands are in cmd_*.cpp.
#include <clocale>
#include <csignal>

#include "cli.h"

int main(int argc, char** argv) {
  // Only the character set follows the locale; number formats and sorting do not.
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  return stoka::app::run_cli(argc, argv);
}
