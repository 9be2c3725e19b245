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
  std::string_view state;  // a SQLSTATE, its class, or a word of this table if there is none
  FailureKind failure_kind;
  ErrorKind kind;
  // Templates of messages: {db} is the database, {user} the user who connects, {detail} the message
  // of the server or libpq.
  std::string_view message;
  std::string_view hint;
};

constexpr std::string_view kAgain = "try again in a moment";
constexpr std::string_view kCheckUrl = "check the address in STOKA_DB_URL or --store";
constexpr std::string_view kCheckUser =
    "check the user and the password in STOKA_DB_URL or --store";
constexpr std::string_view kServerDisk = "check the disk and the log of that server";

// The first matching row is used, so a class comes after its members.
constexpr Meaning kMeanings[] = {
    {"28P01", FailureKind::other, ErrorKind::config, "{db} refuses {user}: wrong password?",
     kCheckUser},
    {"28", FailureKind::other, ErrorKind::config, "{db} refuses {user}: {detail}",
     "check the user in STOKA_DB_URL or --store, and who may connect in the server's pg_hba.conf"},
    {"no password", FailureKind::other, ErrorKind::config, "{db} requires a password for {user}",
     "give it in STOKA_DB_URL, in PGPASSWORD or in ~/.pgpass"},
    {"3D000", FailureKind::other, ErrorKind::config, "{db} is not there: {detail}",
     "create it with createdb, or name another one in STOKA_DB_URL or --store"},
    {"3F000", FailureKind::other, ErrorKind::config, "{db}: {detail}",
     "create that schema, or name another one as search_path"},
    {"42501", FailureKind::other, ErrorKind::config, "{db} denies {user} a privilege: {detail}",
     "grant it to that user, or connect as another one"},
    {"parameter", FailureKind::other, ErrorKind::config,
     "the address of the database has a parameter that libpq does not know: {detail}",
     "leave it out; libpq's parameters are connect_timeout, sslmode, options and such"},
    {"address", FailureKind::other, ErrorKind::config,
     "the address of the database is refused by libpq: {detail}", kCheckUrl},
    {"tls", FailureKind::other, ErrorKind::config, "no secure connection to {db}: {detail}",
     "check sslmode and sslrootcert in STOKA_DB_URL or --store"},
    {"stranger", FailureKind::other, ErrorKind::protocol,
     "what answers as {db} is not PostgreSQL: {detail}", kCheckUrl},
    {"host", FailureKind::connection_lost, ErrorKind::unavailable,
     "the host of {db} is not known: {detail}", kCheckUrl},

    {"53300", FailureKind::connection_lost, ErrorKind::busy,
     "{db} accepts no more connections: {detail}",
     "try again in a moment; if it lasts, raise max_connections there"},
    {"57P03", FailureKind::connection_lost, ErrorKind::unavailable,
     "{db} does not accept connections yet: {detail}", kAgain},
    {"57P", FailureKind::connection_lost, ErrorKind::unavailable,
     "{db} ended the connection: {detail}", kAgain},
    {"25P03", FailureKind::connection_lost, ErrorKind::unavailable,
     "{db} ended the connection: {detail}", kAgain},
    {"25P04", FailureKind::connection_lost, ErrorKind::timeout, "{db} was too slow: {detail}",
     kAgain},
    {"40003", FailureKind::connection_lost, ErrorKind::unavailable,
     "{db} cannot tell whether a statement was executed: {detail}", kAgain},
    {"08P01", FailureKind::other, ErrorKind::internal, "{db}: {detail}", ""},
    {"08", FailureKind::connection_lost, ErrorKind::unavailable,
     "the connection to {db} broke: {detail}",
     "check that PostgreSQL is running there and try again"},
    {"refused", FailureKind::connection_lost, ErrorKind::unavailable,
     "cannot connect to {db}: {detail}",
     "check that PostgreSQL is running there, and the address in STOKA_DB_URL or --store"},

    {"57014", FailureKind::other, ErrorKind::timeout, "{db} was too slow: {detail}",
     "try again; if it stays slow, check the load of that server"},
    {"55P03", FailureKind::other, ErrorKind::busy, "{db} is busy: {detail}", kAgain},
    {"40000", FailureKind::conflict, ErrorKind::busy, "{db} is busy: {detail}", kAgain},
    {"40001", FailureKind::conflict, ErrorKind::busy, "{db} is busy: {detail}", kAgain},
    {"40P01", FailureKind::conflict, ErrorKind::busy, "{db} is busy: {detail}", kAgain},
    {"25006", FailureKind::other, ErrorKind::unavailable, "{db} is read-only: {detail}",
     "it is a standby, or its host has made it read-only: name the primary, or several hosts with "
     "target_session_attrs=read-write"},
    {"25P02", FailureKind::other, ErrorKind::internal,
     "{db}: a statement after a failed one: {detail}", ""},
    {"53100", FailureKind::other, ErrorKind::data,
     "the disk of the server of {db} is full: {detail}",
     "free some space there and run it again; the last transaction was rolled back"},
    {"53", FailureKind::other, ErrorKind::unavailable,
     "the server of {db} is at its limits: {detail}",
     "try again; if it lasts, give that server more memory"},
    {"58", FailureKind::other, ErrorKind::data, "{db} cannot read or write its files: {detail}",
     kServerDisk},
    {"XX001", FailureKind::other, ErrorKind::data, "{db} is damaged: {detail}",
     "restore it from a backup"},
    {"XX002", FailureKind::other, ErrorKind::data, "{db} is damaged: {detail}",
     "rebuild its indexes with: reindexdb"},
    {"42P01", FailureKind::other, ErrorKind::data,
     "{db} does not have the schema of this stoka: {detail}", "run: stoka index PATH"},
    {"42703", FailureKind::other, ErrorKind::data,
     "{db} does not have the schema of this stoka: {detail}", "run: stoka index PATH"},
    {"22P05", FailureKind::other, ErrorKind::config, "{db} cannot hold all characters: {detail}",
     "create the database again with: createdb --encoding=UTF8 --template=template0"},
    {"22021", FailureKind::other, ErrorKind::internal, "{db}: {detail}", ""},
    {"", FailureKind::other, ErrorKind::data, "{db}: {detail}", ""},
};

// Parts of libpq messages about refused connections, each with the state in kMeanings for it.
struct KnownMessage {
  std::string_view part;
  std::string_view other_part;
  std::string_view state;
};

constexpr KnownMessage kKnownMessages[] = {
    {"password authentication failed", "", "28P01"},
    {"no password supplied", "", "no password"},
    {"too many connections", "", "53300"},
    {"too many clients", "", "53300"},
    {"connection slots are reserved", "", "53300"},
    {"no more connections allowed", "", "53300"},  // the message of PgBouncer
    {"max clients reached", "", "53300"},          // the message of Supavisor
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
    {"the database system is", "", "57P03"},  // … starting up, shutting down, in recovery mode
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

// The text after "ERROR:  " or "connection to server at … failed: FATAL:  " in a line.
std::string_view server_message(std::string_view line) {
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

Failure failure(const Meaning& meaning, std::string_view line, const DatabaseAddress& address) {
  constexpr size_t kMaxBytes = 300;
  std::string detail = text::one_line(address.redact(server_message(line)));
  if (detail.size() > kMaxBytes) detail.resize(text::floor_char_boundary(detail, kMaxBytes));
  const std::string user = address.user().empty() ? "the user" : "user '" + address.user() + "'";
  return {meaning.failure_kind,
          {meaning.kind,
           fmt::format(fmt::runtime(meaning.message), fmt::arg("db", address.describe()),
                       fmt::arg("user", user), fmt::arg("detail", detail)),
           std::string(meaning.hint)}};
}

}  // namespace

Failure statement_failure(std::string_view sqlstate, std::string_view text,
                          const DatabaseAddress& address) {
  return failure(meaning_of(sqlstate), first_line(text), address);
}

Failure connection_failure(std::string_view text, const DatabaseAddress& address) {
  for (const KnownMessage& known : kKnownMessages)
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = first_line(rest);
      if (line.find(known.part) != line.npos && line.find(known.other_part) != line.npos)
        return failure(meaning_of(known.state), line, address);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  return failure(meaning_of("refused"), first_line(text), address);
}

}  // namespace stoka::store::postgres
