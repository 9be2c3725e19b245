// stoka: a site that can talk about itself. What it does is in the commands; this is the door.
#include <clocale>
#include <csignal>

#include "cli.h"

int main(int argc, char** argv) {
  // Only the character set: numbers and sorting stay the same everywhere.
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  return stoka::app::run_cli(argc, argv);
}
