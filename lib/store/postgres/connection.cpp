#include "store/postgres/connection.h"

#include <array>
#include <cassert>
#include <charconv>
#include <exception>
#include <pqxx/pqxx>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "store/postgres/failure.h"

// libpqxx 6.4 and 7 have different internals, and mark some of the functions used here deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// libpqxx 6.4 leaks the result that was being read when a connection was lost.
#if defined(__SANITIZE_ADDRESS__) && PQXX_VERSION_MAJOR < 7
extern "C" const char* __lsan_default_suppressions() { return "leak:libpqxx-6.4\n"; }
#endif

namespace stoka::store::postgres {
namespace {

#if PQXX_VERSION_MAJOR >= 7
constexpr bool kParamsInExec = PQXX_VERSION_MAJOR > 7 || PQXX_VERSION_MINOR >= 10;

pqxx::params arguments(const Params& params) {
  pqxx::params out;
  out.reserve(params.values().size());
  for (const auto& value : params.values()) {
    if (value) {
      out.append(std::basic_string_view<std::byte>(
          reinterpret_cast<const std::byte*>(value->data()), value->size()));
    } else {
      out.append();
    }
  }
  return out;
}

template <class Transaction>
pqxx::result execute(Transaction& transaction, const std::string& sql, pqxx::params arguments) {
  if constexpr (kParamsInExec) {
    return transaction.exec(sql, std::move(arguments));
  } else {
    return transaction.exec_params(sql, std::move(arguments));
  }
}
#else
// The parameters are built by hand, because the static types of exec_params' own arguments do not
// allow a list that contains both NULLs and binary values.
pqxx::internal::params arguments(const Params& params) {
  pqxx::internal::params out;
  for (const auto& value : params.values()) {
    out.lengths.push_back(value ? static_cast<int>(value->size()) : 0);
    out.nonnulls.push_back(value ? 1 : 0);
    out.binaries.push_back(value ? 1 : 0);
    if (value) out.bin_strings.emplace_back(value->data(), value->size());
  }
  return out;
}

pqxx::result execute(pqxx::nontransaction& transaction, const std::string& sql,
                     pqxx::internal::params arguments) {
  return transaction.exec_params(sql, std::move(arguments));
}
#endif

// The size in bytes of the largest message for which the server keeps the connection open.
void check_size(const Params& params) {
  constexpr size_t kMaxBytes = size_t{1} << 30;
  size_t bytes = 0;
  for (const auto& value : params.values()) bytes += value ? value->size() : 0;
  if (bytes >= kMaxBytes) throw std::length_error("more than 1 GiB in one statement");
}

template <class T>
bool is(const std::exception& thrown) {
  return dynamic_cast<const T*>(&thrown) != nullptr;
}

std::string sqlstate_of(const std::exception& thrown) {
  if (const auto* error = dynamic_cast<const pqxx::sql_error*>(&thrown))
    if (!error->sqlstate().empty()) return error->sqlstate();
  // libpqxx 6.4 has no SQLSTATE for these exceptions.
  if (is<pqxx::serialization_failure>(thrown)) return "40001";
  if (is<pqxx::deadlock_detected>(thrown)) return "40P01";
  if (is<pqxx::statement_completion_unknown>(thrown)) return "40003";
  if (is<pqxx::transaction_rollback>(thrown)) return "40000";
  if (is<pqxx::too_many_connections>(thrown)) return "53300";
  if (is<pqxx::insufficient_privilege>(thrown)) return "42501";
  return {};
}

constexpr auto kHexDigits = [] {
  std::array<int8_t, 256> out{};
  for (size_t c = 0; c < out.size(); ++c)
    out[c] = static_cast<int8_t>(hex_digit_value(static_cast<char>(c)));
  return out;
}();

int digit(char c) { return kHexDigits[static_cast<unsigned char>(c)]; }

// Bytes as the server writes them: "\x00ff", or with bytea_output = escape "\000\377".
std::string decoded_bytea(std::string_view text) {
  std::string out;
  if (text.starts_with("\\x")) {
    out.resize((text.size() - 2) / 2);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<char>(digit(text[2 * i + 2]) << 4 | digit(text[2 * i + 3]));
    return out;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && text.size() - at > 3 && text[at + 1] != '\\') {
      out += static_cast<char>(digit(text[at + 1]) << 6 | digit(text[at + 2]) << 3 |
                               digit(text[at + 3]));
      at += 3;
    } else {
      if (text[at] == '\\') ++at;
      out += text.substr(at, 1);
    }
  }
  return out;
}

template <class T>
T number(std::string_view text) {
  T out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

struct Rows::Impl {
  explicit Impl(pqxx::result answer);

  // Cells are extracted once: libpq's accessors print warnings through a connection that may be
  // closed, and libpqxx copies shared pointers for each access.
  pqxx::result result;
  std::vector<std::string_view> cells;  // the cells row by row; data() is null for NULL
  size_t rows = 0, columns = 0;
};

Rows::Impl::Impl(pqxx::result answer) : result(std::move(answer)) {
  rows = static_cast<size_t>(result.size());
  columns = static_cast<size_t>(result.columns());
  cells.reserve(rows * columns);
  for (auto row = result.begin(); row != result.end(); ++row)
    for (auto field = row->begin(); field != row->end(); ++field)
      cells.push_back(field->is_null() ? std::string_view()
                                       : std::string_view(field->c_str(), field->size()));
}

Rows::Rows() = default;
Rows::~Rows() = default;
Rows::Rows(const Rows&) = default;
Rows& Rows::operator=(const Rows&) = default;

size_t Rows::size() const { return impl_ ? impl_->rows : 0; }

std::string_view Rows::text(size_t row, int column) const {
  assert(row < size() && static_cast<size_t>(column) < impl_->columns);
  return impl_->cells[row * impl_->columns + static_cast<size_t>(column)];
}

bool Rows::is_null(size_t row, int column) const { return text(row, column).data() == nullptr; }
int64_t Rows::integer(size_t row, int column) const { return number<int64_t>(text(row, column)); }
double Rows::real(size_t row, int column) const { return number<double>(text(row, column)); }
bool Rows::boolean(size_t row, int column) const { return text(row, column) == "t"; }
std::string Rows::bytes(size_t row, int column) const { return decoded_bytea(text(row, column)); }

struct Connection::Impl {
  explicit Impl(const DatabaseAddress& where)
      : address(where), connection(where.reveal()), quiet_errors(connection) {
#if PQXX_VERSION_MAJOR < 7
    connection.inhibit_reactivation(true);
#endif
  }

  template <class Call>
  Result<Rows> run_guarded(const Call& call) {
    if (failure_kind == FailureKind::connection_lost) return fail(loss);
    try {
      Rows rows;
      pqxx::nontransaction transaction(connection);
      rows.impl_ = std::make_shared<Rows::Impl>(call(transaction));
      failure_kind = FailureKind::none;
      sqlstate.clear();
      return rows;
    } catch (const std::exception& thrown) {
      return fail(record_failure(thrown));
    }
  }
  Error record_failure(const std::exception& thrown);

  const DatabaseAddress address;
  pqxx::connection connection;
  pqxx::quiet_errorhandler quiet_errors;
  FailureKind failure_kind = FailureKind::none;
  std::string sqlstate;
  Error loss;  // why the connection was lost
};

Error Connection::Impl::record_failure(const std::exception& thrown) {
  std::string_view message = thrown.what();
  std::string found = sqlstate_of(thrown);
#if PQXX_VERSION_MAJOR < 7
  // libpqxx 6.4 would report a message about its own state.
  if (!connection.is_open()) message = "the server closed it or cannot be reached";
#endif
  if (found.empty()) {
    const bool broken = is<pqxx::broken_connection>(thrown);
    // libpqxx reports every error of class 08 as a broken connection, although the server may only
    // have sent an error message.
    if (broken && connection.is_open() && message.starts_with("ERROR:")) {
      found = "08P01";
    } else if (broken || is<pqxx::sql_error>(thrown) || !connection.is_open()) {
      found = "08006";
    }
  }
  Failure failure = statement_failure(found, message, address);
  // After a conflict, later statements fail with 25P02. The conflict stays the reported failure.
  if (found == "25P02" && failure_kind == FailureKind::conflict) return failure.error;
  if (!connection.is_open()) failure.failure_kind = FailureKind::connection_lost;
  failure_kind = failure.failure_kind;
  sqlstate = std::move(found);
  if (failure_kind == FailureKind::connection_lost) loss = failure.error;
  return failure.error;
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const DatabaseAddress& address) {
  try {
    return std::unique_ptr<Connection>(new Connection(std::make_unique<Impl>(address)));
  } catch (const std::exception& thrown) {
    return fail(connection_failure(thrown.what(), address).error);
  }
}

Result<Rows> Connection::run(std::string_view sql, const Params& params) {
  return impl_->run_guarded([&](pqxx::nontransaction& transaction) {
    check_size(params);
    return execute(transaction, std::string(sql), arguments(params));
  });
}

Result<Rows> Connection::run(std::string_view sql) {
  return impl_->run_guarded(
      [&](pqxx::nontransaction& transaction) { return transaction.exec(std::string(sql)); });
}

FailureKind Connection::failure_kind() const { return impl_->failure_kind; }
const std::string& Connection::sqlstate() const { return impl_->sqlstate; }
int Connection::server_version() const { return impl_->connection.server_version(); }

}  // namespace stoka::store::postgres
