// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/failing_store.h"

#include "headrace/base/random.h"
#include "headrace/storage/ranges.h"

namespace headrace::testing {

FaultPlan fail_kth(Call::Kind kind, std::uint64_t k, Fault fault) {
  return [=](const Call& call) -> std::optional<Fault> {
    if (call.kind == kind && call.number == k) return fault;
    return std::nullopt;
  };
}

FaultPlan fail_with_probability(Call::Kind kind, double probability, std::uint64_t seed,
                                Fault fault) {
  return [=](const Call& call) -> std::optional<Fault> {
    Random random(mix_key(seed, static_cast<std::uint64_t>(call.kind), call.number));
    if (call.kind == kind && random.uniform() < probability) return fault;
    return std::nullopt;
  };
}

FaultPlan fail_key(std::string key, Fault fault) {
  return [key = std::move(key), fault](const Call& call) -> std::optional<Fault> {
    if (call.key == key) return fault;
    return std::nullopt;
  };
}

class FailingStore::Writer final : public ObjectWriter {
 public:
  Writer(FailingStore& store, std::string key, std::unique_ptr<ObjectWriter> below)
      : store_(store), key_(std::move(key)), below_(std::move(below)) {}

  Result<void> append(ByteSpan bytes) override {
    HEADRACE_TRY(store_.pass(Call::Kind::append, key_));
    return below_->append(bytes);
  }
  Result<Pin> finish() override {
    HEADRACE_TRY(store_.pass(Call::Kind::finish, key_));
    return below_->finish();
  }

 private:
  FailingStore& store_;
  const std::string key_;
  const std::unique_ptr<ObjectWriter> below_;
};

std::optional<Fault> FailingStore::ask(Call::Kind kind, const std::string& key) {
  const auto number = counts_[static_cast<std::size_t>(kind)]++;
  auto fault = plan_({kind, key, number});
  if (fault) ++faults_;
  return fault;
}

Result<void> FailingStore::pass(Call::Kind kind, const std::string& key) {
  const auto fault = ask(kind, key);
  if (fault && fault->kind == Fault::Kind::error) {
    return Error(fault->code, "a fault on order").at(object_place(describe(), key));
  }
  return {};
}

Result<ObjectInfo> FailingStore::head(const std::string& key, const std::stop_token& stop) {
  HEADRACE_TRY(pass(Call::Kind::head, key));
  return below_.head(key, stop);
}

Result<void> FailingStore::list(const ListRequest& request, const std::stop_token& stop,
                                const std::function<Result<bool>(ListPage&&)>& sink) {
  HEADRACE_TRY(pass(Call::Kind::list, request.prefix));
  return below_.list(request, stop, sink);
}

void FailingStore::read(ReadRequest request, ReadDone done) {
  const auto fault = ask(Call::Kind::read, request.key);
  if (!fault) return below_.read(std::move(request), std::move(done));
  if (fault->kind == Fault::Kind::error) {
    return done(Error(fault->code, "a fault on order").at(object_place(describe(), request.key)));
  }
  below_.read(std::move(request), [kind = fault->kind, done](Result<ReadResult> result) {
    if (!result.ok() || result->bytes.empty()) return done(std::move(result));
    const auto size = result->bytes.size();
    if (kind == Fault::Kind::shorten) {
      result->bytes = result->bytes.slice(0, size - 1);
    } else {
      std::string wrong(result->bytes.text());
      wrong[size / 2] = static_cast<char>(wrong[size / 2] ^ 1);
      result->bytes = Bytes::copy_of(wrong);
    }
    done(std::move(result));
  });
}

Result<std::unique_ptr<ObjectWriter>> FailingStore::create(const std::string& key,
                                                           const std::stop_token& stop) {
  HEADRACE_TRY(pass(Call::Kind::create, key));
  HEADRACE_TRY(auto writer, below_.create(key, stop));
  return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, key, std::move(writer)));
}

Result<void> FailingStore::remove(const std::string& key, const std::stop_token& stop) {
  HEADRACE_TRY(pass(Call::Kind::remove, key));
  return below_.remove(key, stop);
}

}  // namespace headrace::testing
