#include "store/postgres/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::store::postgres {
namespace {

struct Meaning {
  std::string_view state;  // SQLSTATE, its class, or a word of ours where there is none
  Fault fault;
  ErrorKind kind;
  // With {db} for the database, {user} for who connects, {said} for the server's own words.
  std::string_view message;
  std::string_view hint;
};

constexpr std::string_view kAgain = "try again in a moment";
constexpr std::string_view kCheckUrl = "check the address in STOKA_DB_URL or --store";
constexpr std::string_view kCheckUser =
    "check the user and the password in STOKA_DB_URL or --store";
constexpr std::string_view kServerDisk = "look at the disk and the log of that server";

// The first that fits counts: classes stand behind their members.
constexpr Meaning kMeanings[] = {
    {"28P01", Fault::other, ErrorKind::config, "{db} refuses {user}: wrong password?", kCheckUser},
    {"28", Fault::other, ErrorKind::config, "{db} refuses {user}: {said}",
     "check the user in STOKA_DB_URL or --store, and who may connect in the server's pg_hba.conf"},
    {"no password", Fault::other, ErrorKind::config, "{db} wants a password of {user}",
     "give it in STOKA_DB_URL, in PGPASSWORD or in ~/.pgpass"},
    {"3D000", Fault::other, ErrorKind::config, "{db} is not there: {said}",
     "create it with createdb, or name another one in STOKA_DB_URL or --store"},
    {"3F000", Fault::other, ErrorKind::config, "{db}: {said}",
     "create that schema, or name another one as search_path"},
    {"42501", Fault::other, ErrorKind::config, "{db} denies {user} a right: {said}",
     "grant it to that user, or connect as another one"},
    {"parameter", Fault::other, ErrorKind::config,
     "the address of the database has a parameter that libpq does not know: {said}",
     "leave it out; libpq's parameters are connect_timeout, sslmode, options and such"},
    {"address", Fault::other, ErrorKind::config,
     "the address of the database is refused by libpq: {said}", kCheckUrl},
    {"tls", Fault::other, ErrorKind::config, "no secure connection to {db}: {said}",
     "check sslmode and sslrootcert in STOKA_DB_URL or --store"},
    {"stranger", Fault::other, ErrorKind::protocol, "what answers as {db} is no PostgreSQL: {said}",
     kCheckUrl},
    {"host", Fault::broken, ErrorKind::unavailable, "the host of {db} is not known: {said}",
     kCheckUrl},

    {"53300", Fault::broken, ErrorKind::busy, "{db} takes no more connections: {said}",
     "try again in a moment; if it lasts, raise max_connections there"},
    {"57P03", Fault::broken, ErrorKind::unavailable, "{db} takes no connections yet: {said}",
     kAgain},
    {"57P", Fault::broken, ErrorKind::unavailable, "{db} ended the connection: {said}", kAgain},
    {"25P03", Fault::broken, ErrorKind::unavailable, "{db} ended the connection: {said}", kAgain},
    {"25P04", Fault::broken, ErrorKind::timeout, "{db} was too slow: {said}", kAgain},
    {"40003", Fault::broken, ErrorKind::unavailable, "{db} does not know its own state: {said}",
     kAgain},
    {"08P01", Fault::other, ErrorKind::internal, "{db}: {said}", ""},
    {"08", Fault::broken, ErrorKind::unavailable, "the connection to {db} broke: {said}",
     "see that PostgreSQL is running there and try again"},
    {"refused", Fault::broken, ErrorKind::unavailable, "cannot connect to {db}: {said}",
     "is PostgreSQL running there? start it, or check the address in STOKA_DB_URL or --store"},

    {"57014", Fault::other, ErrorKind::timeout, "{db} was too slow: {said}",
     "try again; if it stays slow, look at the load of that server"},
    {"55P03", Fault::other, ErrorKind::busy, "{db} is busy: {said}", kAgain},
    {"40000", Fault::conflict, ErrorKind::busy, "{db} is busy: {said}", kAgain},
    {"40001", Fault::conflict, ErrorKind::busy, "{db} is busy: {said}", kAgain},
    {"40P01", Fault::conflict, ErrorKind::busy, "{db} is busy: {said}", kAgain},
    {"25006", Fault::other, ErrorKind::unavailable, "{db} is read-only: {said}",
     "it is a standby, or its host made it so: name the primary, or several hosts with "
     "target_session_attrs=read-write"},
    {"25P02", Fault::other, ErrorKind::internal, "{db}: a statement after a failed one: {said}",
     ""},
    {"53100", Fault::other, ErrorKind::data, "the disk of the server of {db} is full: {said}",
     "free some space there and run it again; nothing was written by half"},
    {"53", Fault::other, ErrorKind::unavailable, "the server of {db} is at its limits: {said}",
     "try again; if it lasts, give that server more memory"},
    {"58", Fault::other, ErrorKind::data, "{db} cannot read or write its files: {said}",
     kServerDisk},
    {"XX001", Fault::other, ErrorKind::data, "{db} is damaged: {said}", "restore it from a backup"},
    {"XX002", Fault::other, ErrorKind::data, "{db} is damaged: {said}",
     "rebuild its indexes with: reindexdb"},
    {"42P01", Fault::other, ErrorKind::data, "{db} has not the schema of this stoka: {said}",
     "run: stoka index PATH"},
    {"42703", Fault::other, ErrorKind::data, "{db} has not the schema of this stoka: {said}",
     "run: stoka index PATH"},
    {"22P05", Fault::other, ErrorKind::config, "{db} cannot hold all characters: {said}",
     "make the database anew with: createdb --encoding=UTF8 --template=template0"},
    {"22021", Fault::other, ErrorKind::internal, "{db}: {said}", ""},
    {"", Fault::other, ErrorKind::data, "{db}: {said}", ""},
};

// A text of libpq for a connection that was refused, and what it means.
struct Saying {
  std::string_view words;
  std::string_view and_words;
  std::string_view state;
};

constexpr Saying kSayings[] = {
    {"password authentication failed", "", "28P01"},
    {"no password supplied", "", "no password"},
    {"too many connections", "", "53300"},
    {"too many clients", "", "53300"},
    {"connection slots are reserved", "", "53300"},
    {"no more connections allowed", "", "53300"},  // PgBouncer
    {"max clients reached", "", "53300"},          // Supavisor
    {"Max client connections reached", "", "53300"},
    {"role \"", "does not exist", "28000"},
    {"is not permitted to log in", "", "28000"},
    {"pg_hba.conf", "", "28000"},
    {"authentication failed", "", "28000"},
    {"no such user", "", "28000"},
    {"Tenant or user not found", "", "28000"},
    {"database \"", "does not exist", "3D000"},
    {"no such database", "", "3D000"},
    {"permission denied", "", "42501"},
    {"the database system is", "", "57P03"},  // starting up, shutting down, in recovery mode
    {"session is read-only", "", "25006"},
    {"server is in hot standby mode", "", "25006"},
    {"invalid URI query parameter", "", "parameter"},
    {"URI", "", "address"},
    {"invalid integer value", "", "address"},
    {"invalid port number", "", "address"},
    {"value:", "invalid", "address"},
    {"could not translate host name", "", "host"},
    {"does not support SSL", "", "tls"},
    {"certificate", "", "tls"},
    {"SSL error", "", "tls"},
    {"received invalid response", "", "stranger"},
    {"expected authentication request", "", "stranger"},
};

// The server's own words of a line: "ERROR:  x", "connection to server at … failed: FATAL:  x".
std::string_view words_of(std::string_view line) {
  for (const std::string_view mark : {"FATAL:", "ERROR:", "PANIC:", "failed:"})
    if (const size_t at = line.find(mark); at != line.npos)
      return trimmed(line.substr(at + mark.size()));
  return trimmed(line);
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

const Meaning& meaning_of(std::string_view state) {
  for (const Meaning& meaning : kMeanings)
    if (state.starts_with(meaning.state)) return meaning;
  return *std::rbegin(kMeanings);
}

Failure failure(const Meaning& meaning, std::string_view line, const Address& address) {
  constexpr size_t kMost = 300;
  std::string said = text::one_line(address.redact(words_of(line)));
  if (said.size() > kMost) said.resize(text::floor_border(said, kMost));
  const std::string user = address.user().empty() ? "the user" : "user '" + address.user() + "'";
  return {meaning.fault,
          {meaning.kind,
           fmt::format(fmt::runtime(meaning.message), fmt::arg("db", address.describe()),
                       fmt::arg("user", user), fmt::arg("said", said)),
           std::string(meaning.hint)}};
}

}  // namespace

Failure statement_failure(std::string_view sqlstate, std::string_view text,
                          const Address& address) {
  return failure(meaning_of(sqlstate), first_line(text), address);
}

Failure connection_failure(std::string_view text, const Address& address) {
  for (const Saying& saying : kSayings)
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = first_line(rest);
      if (line.find(saying.words) != line.npos && line.find(saying.and_words) != line.npos)
        return failure(meaning_of(saying.state), line, address);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  return failure(meaning_of("refused"), first_line(text), address);
}

}  // namespace stoka::store::postgres
