#include <doctest/doctest.h>

#include "store/postgres/failure.h"

namespace postgres_failure_test {

using namespace stoka;
using namespace stoka::store::postgres;

namespace {

const DatabaseAddress& address() {
  static const DatabaseAddress one =
      *DatabaseAddress::parse("postgres://ann:s3cret@db.example:5432/site");
  return one;
}

}  // namespace

TEST_CASE("the SQLSTATE decides the error, whatever the language of the message") {
  struct {
    const char* state;
    ErrorKind kind;
    FailureKind failure_kind;
    const char* message;
  } const cases[] = {
      {"28P01", ErrorKind::config, FailureKind::other, "refuses user 'ann': wrong password?"},
      {"28000", ErrorKind::config, FailureKind::other, "refuses user 'ann': kaputt"},
      {"3D000", ErrorKind::config, FailureKind::other, "is not there"},
      {"42501", ErrorKind::config, FailureKind::other, "denies user 'ann' a privilege: kaputt"},
      {"53300", ErrorKind::busy, FailureKind::connection_lost, "accepts no more connections"},
      {"57P03", ErrorKind::unavailable, FailureKind::connection_lost,
       "does not accept connections yet"},
      {"57P01", ErrorKind::unavailable, FailureKind::connection_lost, "ended the connection"},
      {"57P02", ErrorKind::unavailable, FailureKind::connection_lost, "ended the connection"},
      {"57P05", ErrorKind::unavailable, FailureKind::connection_lost, "ended the connection"},
      {"25P03", ErrorKind::unavailable, FailureKind::connection_lost, "ended the connection"},
      {"08006", ErrorKind::unavailable, FailureKind::connection_lost, "broke: kaputt"},
      {"08P01", ErrorKind::internal, FailureKind::other, "kaputt"},
      {"57014", ErrorKind::timeout, FailureKind::other, "was too slow"},
      {"55P03", ErrorKind::busy, FailureKind::other, "is busy"},
      {"40001", ErrorKind::busy, FailureKind::conflict, "is busy"},
      {"40P01", ErrorKind::busy, FailureKind::conflict, "is busy"},
      {"40003", ErrorKind::unavailable, FailureKind::connection_lost, "cannot tell whether"},
      {"25006", ErrorKind::unavailable, FailureKind::other, "is read-only"},
      {"53100", ErrorKind::data, FailureKind::other, "the disk of the server"},
      {"53200", ErrorKind::unavailable, FailureKind::other, "at its limits"},
      {"58030", ErrorKind::data, FailureKind::other, "cannot read or write its files"},
      {"XX001", ErrorKind::data, FailureKind::other, "is damaged"},
      {"XX002", ErrorKind::data, FailureKind::other, "is damaged"},
      {"42P01", ErrorKind::data, FailureKind::other, "does not have the schema of this stoka"},
      {"42703", ErrorKind::data, FailureKind::other, "does not have the schema of this stoka"},
      {"22P05", ErrorKind::config, FailureKind::other, "cannot hold all characters"},
      {"22021", ErrorKind::internal, FailureKind::other, "kaputt"},
      {"25P02", ErrorKind::internal, FailureKind::other, "after a failed one"},
      {"XX000", ErrorKind::data, FailureKind::other, "postgres://db.example:5432/site: kaputt"},
      {"23505", ErrorKind::data, FailureKind::other, "postgres://db.example:5432/site: kaputt"},
      {"", ErrorKind::data, FailureKind::other, "postgres://db.example:5432/site: kaputt"},
  };
  for (const auto& [state, kind, failure_kind, message] : cases) {
    CAPTURE(state);
    const Failure failure =
        statement_failure(state, "ERROR:  kaputt\nDETAIL:  a visitor's words\n", address());
    CHECK(failure.error.kind == kind);
    CHECK(failure.failure_kind == failure_kind);
    CHECK_MESSAGE(failure.error.message.find(message) != std::string::npos, failure.error.message);
    CHECK(failure.error.message.find("postgres://db.example:5432/site") != std::string::npos);
    CHECK(failure.error.message.find("visitor") == std::string::npos);
    CHECK((failure.error.hint.empty()) ==
          (kind == ErrorKind::internal || failure.error.message.ends_with("site: kaputt")));
  }
}

TEST_CASE("a refused connection is recognised by the message of libpq or the server") {
  const std::string to = "connection to server at \"10.0.0.1\", port 5432 failed: ";
  struct {
    std::string text;
    ErrorKind kind;
    const char* message;
  } const cases[] = {
      {to + "FATAL:  password authentication failed for user \"ann\"\n", ErrorKind::config,
       "refuses user 'ann': wrong password?"},
      {to + "fe_sendauth: no password supplied\n", ErrorKind::config,
       "requires a password for user 'ann'"},
      {to + "FATAL:  role \"ann\" does not exist\n", ErrorKind::config,
       "refuses user 'ann': role \"ann\" does not exist"},
      {to + "FATAL:  role \"ann\" is not permitted to log in\n", ErrorKind::config,
       "refuses user 'ann': role"},
      {to + "FATAL:  Peer authentication failed for user \"ann\"\n", ErrorKind::config,
       "refuses user 'ann': Peer"},
      {to + "FATAL:  no pg_hba.conf entry for host \"10.0.0.2\", user \"ann\", no encryption\n",
       ErrorKind::config, "refuses user 'ann': no pg_hba.conf entry"},
      {to + "FATAL:  database \"site\" does not exist\n", ErrorKind::config,
       "is not there: database \"site\" does not exist"},
      {to + "FATAL:  permission denied for database \"site\"\nDETAIL:  …\n", ErrorKind::config,
       "denies user 'ann' a privilege"},
      {to + "FATAL:  sorry, too many clients already\n", ErrorKind::busy,
       "accepts no more connections: sorry, too many clients already"},
      {to + "FATAL:  remaining connection slots are reserved for non-replication superuser\n",
       ErrorKind::busy, "accepts no more connections"},
      {to + "FATAL:  too many connections for role \"ann\"\n", ErrorKind::busy,
       "accepts no more connections"},
      {to + "FATAL:  the database system is starting up\n", ErrorKind::unavailable,
       "does not accept connections yet: the database system is starting up"},
      {to + "FATAL:  the database system is shutting down\n", ErrorKind::unavailable,
       "does not accept connections yet"},
      {to + "session is read-only\n", ErrorKind::unavailable, "is read-only"},
      {to + "Connection refused\n\tIs the server running on that host and accepting TCP/IP "
            "connections?\n",
       ErrorKind::unavailable, "cannot connect to postgres://db.example:5432/site: Connection"},
      {to + "timeout expired\n", ErrorKind::unavailable, "timeout expired"},
      {to + "server closed the connection unexpectedly\n\tThis probably means the server …\n",
       ErrorKind::unavailable, "cannot connect to"},
      {to + "FATAL:  Passwort-Authentifizierung fehlgeschlagen\n", ErrorKind::unavailable,
       "Passwort-Authentifizierung fehlgeschlagen"},
      {"could not translate host name \"db.example\" to address: Name or service not known\n",
       ErrorKind::unavailable, "the host of postgres://db.example:5432/site is not known"},
      {"invalid URI query parameter: \"pgbouncer\"\n", ErrorKind::config,
       "a parameter that libpq does not know: invalid URI query parameter: \"pgbouncer\""},
      {"invalid sslmode value: \"maybe\"\n", ErrorKind::config, "refused by libpq"},
      {"invalid integer value \"soon\" for connection option \"connect_timeout\"\n",
       ErrorKind::config, "refused by libpq"},
      {"unexpected character \"x\" in URI: \"postgres://ann:s3cret@db\"\n", ErrorKind::config,
       "refused by libpq"},
      {to + "server does not support SSL, but SSL was required\n", ErrorKind::config,
       "no secure connection"},
      {"root certificate file \"/x\" does not exist\n", ErrorKind::config, "no secure connection"},
      {to + "SSL error: certificate verify failed\n", ErrorKind::config, "no secure connection"},
      {to + "received invalid response to SSL negotiation: H\n", ErrorKind::protocol,
       "is not PostgreSQL"},
      {"", ErrorKind::unavailable, "cannot connect to"},
      // Several hosts, or several addresses of one host.
      {to + "Connection refused\n\tIs the server …?\n" + to +
           "FATAL:  password authentication failed for user \"ann\"\n",
       ErrorKind::config, "wrong password?"},
  };
  for (const auto& [text, kind, message] : cases) {
    CAPTURE(text);
    const Error error = connection_failure(text, address()).error;
    CHECK(error.kind == kind);
    CHECK_MESSAGE(error.message.find(message) != std::string::npos, error.message);
    CHECK(error.message.find("s3cret") == std::string::npos);
    CHECK_FALSE(error.hint.empty());
  }
}

TEST_CASE("the message of a server is shortened to one line without the password") {
  const std::string endless = "ERROR:  s3cret \x1b[31m" + std::string(5000, 'x') + "ä";
  const Error error = statement_failure("XX000", endless, address()).error;
  CHECK(error.message.find("s3cret") == std::string::npos);
  CHECK(error.message.find('\x1b') == std::string::npos);
  CHECK(error.message.size() < 400);
}

TEST_CASE("the error does not name a user that the URL does not name") {
  const DatabaseAddress nameless = *DatabaseAddress::parse("postgres://db.example/site");
  CHECK(statement_failure("28P01", "FATAL:  x", nameless).error.message ==
        "postgres://db.example/site refuses the user: wrong password?");
}

}  // namespace postgres_failure_test
