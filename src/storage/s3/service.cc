// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/service.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "headrace/storage/s3/obtain.h"

namespace headrace::s3 {
namespace {

unsigned loops_of(const S3Options& options) {
  if (options.loops != 0) return options.loops;
  return std::clamp(std::thread::hardware_concurrency() / 4, 1U, 8U);
}

GovernorOptions governor_options(const S3Options& options, const Endpoint& endpoint) {
  const std::size_t most = std::max<std::size_t>(options.max_connections, 1);
  std::size_t begin = options.begin_connections;
  if (begin == 0) begin = endpoint.base.starts_with("https:") ? 32 : 64;
  return {.begin = begin, .least = std::min<std::size_t>(most, 4), .most = most};
}

EndpointOptions endpoint_options(const Settings& settings, std::string_view region) {
  return {.custom = settings.endpoint,
          .region = region,
          .addressing = settings.addressing,
          .dualstack = settings.dualstack,
          .fips = settings.fips};
}

/// Keys by the way that the settings name, or those that they hold.
Result<Credentials> credentials_of(const Settings& settings, Clock& clock,
                                   const std::stop_token& stop) {
  if (!settings.way) return settings.credentials;
  auto found = obtain(*settings.way, settings, clock, stop);
  if (found || !no_instance(*settings.way, found.error())) return found;
  // As on most machines: public buckets can be read, and a refusal will say what was tried.
  return Credentials{.source = found.error().to_string()};
}

/// Not of the process's id and the time: in containers that a scheduler starts together both are
/// the same, and their retries would come as one.
std::uint64_t own_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) != 0 || seed == 0)
    seed = mix_key(static_cast<std::uint64_t>(::getpid()),
                   static_cast<std::uint64_t>(real_clock().now().count()));
  return seed;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::make(std::string bucket, const Context& context,
                                               const S3Options& options,
                                               const std::stop_token& stop) {
  Settings settings;
  if (options.settings) {
    settings = *options.settings;
  } else {
    HEADRACE_TRY(settings, load_settings(process_environment()));
  }
  HEADRACE_TRY(auto endpoint, make_endpoint(endpoint_options(settings, settings.region), bucket));
  Clock& clock = *context.clock;
  HEADRACE_TRY(auto first, credentials_of(settings, clock, stop));
  Keeper::Obtain again;
  if (!options.settings) {  // files and variables may have changed by then
    again = [&clock](const std::stop_token& ended) -> Result<Credentials> {
      HEADRACE_TRY(const Settings now, load_settings(process_environment()));
      return credentials_of(now, clock, ended);
    };
  } else if (settings.way) {
    again = [settings, &clock](const std::stop_token& ended) {
      return credentials_of(settings, clock, ended);
    };
  }
  auto keeper = std::make_unique<Keeper>(std::move(first), std::move(again), clock);
  S3Options own = options;
  if (settings.max_attempts) {  // then no outage is waited for beyond them
    own.retry.attempts = *settings.max_attempts;
    own.retry.connect_attempts = std::min(own.retry.connect_attempts, *settings.max_attempts);
    own.retry.outage = Nanos(0);
  }
  return std::unique_ptr<Service>(new Service(std::move(bucket), context, own, std::move(settings),
                                              std::move(endpoint), std::move(keeper)));
}

Service::Service(std::string bucket, Context context, const S3Options& options, Settings settings,
                 Endpoint endpoint, std::unique_ptr<Keeper> keeper)
    : bucket_(std::move(bucket)),
      context_(std::move(context)),
      options_(options),
      settings_(std::move(settings)),
      process_(::getpid()),
      seed_(options.retry_seed != 0 ? options.retry_seed : own_seed()),
      keeper_(std::move(keeper)),
      identity_(std::make_shared<const Identity>(Identity{std::move(endpoint), keeper_->get()})),
      governor_(governor_options(options, identity_->endpoint)) {
  const std::string& base = identity_->endpoint.base;
  const unsigned loops = loops_of(options);
  for (unsigned i = 0; i < loops; ++i) {
    loops_.push_back(std::make_unique<http::Loop>(
        http::LoopOptions{.max_active = std::max<std::size_t>(options.max_connections / loops, 1),
                          .ca_bundle = settings_.ca_bundle,
                          .proxy = settings_.proxies.of(base),
                          .no_proxy = settings_.proxies.none,
                          .connect_timeout = options.connect_timeout,
                          .stall_timeout = options.stall_timeout}));
  }
  spread(governor_.limit());
  if (!options.hedge) return;
  hedger_ = std::make_unique<Hedger>();
  part_hedger_ = std::make_unique<Hedger>(HedgeOptions{.enough = 50, .most_saved = 4});
}

void Service::spread(std::size_t limit) {
  for (const auto& loop : loops_) loop->set_max_active((limit + loops_.size() - 1) / loops_.size());
}

void Service::measured(std::uint64_t bytes, Nanos latency, bool throttled) {
  std::size_t load = 0;
  for (const auto& loop : loops_) load += loop->load();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::size_t limit = 0;
  {
    const MutexLock lock(mutex_);
    const std::size_t before = governor_.limit();
    governor_.ended(
        now,
        {.bytes = bytes, .latency = latency, .throttled = throttled, .saturated = load >= before});
    limit = governor_.limit();
    if (limit == before) return;
  }
  spread(limit);
}

Service::~Service() {
  if (::getpid() == process_) {
    // The hedger starts requests and the loops tell it of those that begin: it falls silent first,
    // and goes when they are gone.
    for (const auto& hedger : {hedger_.get(), part_hedger_.get()})
      if (hedger != nullptr) hedger->stop();
    loops_.clear();
    return;
  }
  (void)hedger_.release();       // NOLINT(bugprone-unused-return-value): its thread is the parent's
  (void)part_hedger_.release();  // NOLINT(bugprone-unused-return-value): the same
  for (auto& loop : loops_) http::Loop::abandon(std::move(loop));
  (void)keeper_.release();  // NOLINT(bugprone-unused-return-value): its thread is the parent's
}

std::shared_ptr<const Identity> Service::identity() {
  auto credentials = keeper_->get();
  const MutexLock lock(mutex_);
  if (identity_->credentials != credentials) {
    identity_ =
        std::make_shared<const Identity>(Identity{identity_->endpoint, std::move(credentials)});
  }
  return identity_;
}

std::shared_ptr<const SigningKey> Service::signing_key(const Identity& identity,
                                                       std::string_view day) {
  const MutexLock lock(mutex_);
  const std::string& secret = identity.credentials->secret_key;
  if (key_ == nullptr || key_->day() != day || key_->region() != identity.endpoint.region ||
      key_secret_ != secret) {
    key_ = std::make_shared<const SigningKey>(secret, day, identity.endpoint.region);
    key_secret_ = secret;
  }
  return key_;
}

void Service::sign(const Identity& identity, std::string_view method, std::string_view path,
                   std::string_view query, std::string_view payload_hash, Headers& headers) {
  if (requester_pays()) headers.emplace_back("x-amz-request-payer", "requester");
  if (identity.credentials->unsigned_mode()) return;
  const std::string date = amz_date(context_.clock->wall_seconds() + skew());
  headers.emplace_back("host", identity.endpoint.host);
  headers.emplace_back("x-amz-content-sha256", payload_hash);
  headers.emplace_back("x-amz-date", date);
  if (!identity.credentials->session_token.empty())
    headers.emplace_back("x-amz-security-token", identity.credentials->session_token);
  std::ranges::sort(headers);
  const auto key = signing_key(identity, std::string_view(date).substr(0, 8));
  std::string authorization = key->authorize(identity.credentials->access_key, date,
                                             {.method = method,
                                              .path = path,
                                              .query = query,
                                              .headers = headers,
                                              .payload_hash = payload_hash});
  std::erase_if(headers, [](const auto& header) { return header.first == "host"; });  // curl's own
  headers.emplace_back("authorization", std::move(authorization));
}

bool Service::move_to_region(const std::string& region) {
  const auto now = identity();
  if (region.empty() || region == now->endpoint.region) return false;
  auto endpoint = make_endpoint(endpoint_options(settings_, region), bucket_);
  if (!endpoint) return false;
  const MutexLock lock(mutex_);
  identity_ = std::make_shared<const Identity>(Identity{*std::move(endpoint), now->credentials});
  return true;
}

void Service::start(std::unique_ptr<http::Exchange> exchange, const std::stop_token& stop) {
  const auto& loop = *std::ranges::min_element(
      loops_, {}, [](const std::unique_ptr<http::Loop>& each) { return each->load(); });
  loop->start(std::move(exchange), stop);
}

Result<void> Service::check_process() const {
  if (::getpid() == process_) return {};
  return Error(Code::invalid, "this S3 store was opened before the process forked",
               "open the store in the child process, or start workers by spawn");
}

void Service::notice_weak_pin(const std::string& place) {
  if (weak_pin_noticed_.exchange(true, std::memory_order_relaxed)) return;
  context_.notices->add("weak-pin",
                        place +
                            ": the server gives no ETag; objects are pinned by modification "
                            "time and size, so a change within the same second may go unseen");
}

}  // namespace headrace::s3
