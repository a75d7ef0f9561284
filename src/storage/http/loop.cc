// SPDX-License-Identifier: Apache-2.0
// How a loop works. Other threads put exchanges and cancellations into `inbox_` and ring `bell_`
// if the loop sleeps. The loop's thread takes them, starts what fits, sleeps in epoll_wait until
// a socket, curl's timer, a retry or the bell wakes it, lets curl work, and reaps what is done.
// GET and HEAD go by a Wire (wire.h), whose connection curl makes; the rest, and all that goes
// through a proxy, by curl. Everything below "the loop's thread only" has that thread as its one
// user, so it has no lock.
#include "headrace/storage/http/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <deque>
#include <map>
#include <thread>
#include <unordered_map>

#include "headrace/base/mutex.h"
#include "headrace/base/text.h"
#include "headrace/base/unique_fd.h"
#include "headrace/storage/http/curl_handle.h"
#include "headrace/storage/http/socket_watch.h"
#include "headrace/storage/http/wire_pool.h"

namespace headrace::http {
namespace {

std::uint32_t epoll_mask(int what) {
  const std::uint32_t in = what == CURL_POLL_OUT ? 0U : static_cast<std::uint32_t>(EPOLLIN);
  const std::uint32_t out = what == CURL_POLL_IN ? 0U : static_cast<std::uint32_t>(EPOLLOUT);
  return in | out;
}

void block_signals() {  // they are for the program's own threads
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

class Loop::Impl {
 public:
  explicit Impl(const LoopOptions& options)
      : options_(options), max_active_(options.max_active), wires_(options.ca_bundle) {
    init_curl();
    multi_.reset(curl_multi_init());
    bell_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    sockets_.add(bell_.get());
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &on_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(options.max_active));
    thread_ = std::thread([this] { run(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    {
      const MutexLock lock(mutex_);
      inbox_.stop = true;
    }
    ring();
    thread_.join();
  }

  void start(std::unique_ptr<Exchange> exchange, const std::stop_token& stop) {
    load_.fetch_add(1, std::memory_order_relaxed);
    bool sleeps = false;
    {
      const MutexLock lock(mutex_);
      inbox_.arrivals.push_back({std::move(exchange), stop});
      sleeps = std::exchange(sleeping_, false);
    }
    if (sleeps) ring();
  }

  void set_max_active(std::size_t most) {
    max_active_.store(std::min(most, options_.max_active), std::memory_order_relaxed);
  }
  std::size_t load() const { return load_.load(std::memory_order_relaxed); }
  void detach() { thread_.detach(); }

 private:
  using Id = std::uint64_t;

  struct Arrival {
    std::unique_ptr<Exchange> exchange;
    std::stop_token stop;
  };
  struct Inbox {
    std::vector<Arrival> arrivals;
    std::vector<Id> cancelled;
    bool stop = false;
  };
  struct Cancel {
    Impl* loop;
    Id id;
    void operator()() const { loop->cancel(id); }
  };
  /// An exchange from its arrival to its end.
  struct Flight {
    Id id = 0;
    std::unique_ptr<Exchange> exchange;
    Request request;
    // While an attempt is under way, one of these: curl's, which may only connect; or a wire.
    std::unique_ptr<EasyHandle> handle;
    Wire* wire = nullptr;
    bool connects = false;
    int status = 0;
    std::optional<std::stop_callback<Cancel>> on_stop;
  };

  void ring() const {
    const std::uint64_t one = 1;
    while (::write(bell_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

  void cancel(Id id) {
    bool sleeps = false;
    {
      const MutexLock lock(mutex_);
      inbox_.cancelled.push_back(id);
      sleeps = std::exchange(sleeping_, false);
    }
    if (sleeps) ring();
  }

  // ---- the loop's thread only -------------------------------------------------------------

  void run() {
    block_signals();
    for (;;) {
      Inbox inbox = take_inbox();
      for (auto& arrival : inbox.arrivals) arrive(std::move(arrival));
      for (const Id id : inbox.cancelled) drop(id);
      if (inbox.stop) break;
      begin_due();
      while (!waiting_.empty() && active_ < max_active_.load(std::memory_order_relaxed)) {
        const Id id = waiting_.front();
        waiting_.pop_front();
        if (const auto found = flights_.find(id); found != flights_.end()) begin(*found->second);
      }
      reap();
      sleep_and_work();
      reap();
    }
    while (!flights_.empty()) drop(flights_.begin()->first);
    idle_.clear();
    multi_.reset();  // closes the connections, which unwatches their sockets
  }

  Inbox take_inbox() {
    const MutexLock lock(mutex_);
    sleeping_ = false;
    return std::exchange(inbox_, {.stop = inbox_.stop});
  }

  void arrive(Arrival arrival) {
    auto flight = std::make_unique<Flight>();
    flight->id = ++last_id_;
    flight->exchange = std::move(arrival.exchange);
    Flight& placed = *flight;
    flights_.emplace(placed.id, std::move(flight));
    waiting_.push_back(placed.id);
    // If the stop was asked for already, this calls at once: it only writes to the inbox.
    if (arrival.stop.stop_possible()) placed.on_stop.emplace(arrival.stop, Cancel{this, placed.id});
  }

  void begin_due() {
    const auto now = std::chrono::steady_clock::now();
    while (!later_.empty() && later_.begin()->first <= now) {
      waiting_.push_front(later_.begin()->second);  // it is the older one
      later_.erase(later_.begin());
    }
  }

  void begin(Flight& flight) {
    flight.request = flight.exchange->begin();
    flight.status = 0;
    ++active_;
    const Method method = flight.request.method;
    const bool by_wire =
        (method == Method::get || method == Method::head) && options_.proxy.empty();
    if (!by_wire) {
      take_handle(flight);
      flight.handle->prepare(flight.request, &flight);
      curl_multi_add_handle(multi_.get(), flight.handle->get());
    } else if (Wire* const wire = wires_.take(server_of(flight.request.url)); wire != nullptr) {
      send(flight, *wire);
    } else {
      connect(flight);
    }
  }

  void take_handle(Flight& flight) {
    if (idle_.empty()) {
      flight.handle =
          std::make_unique<EasyHandle>(options_, EasyHandle::Callbacks{.header = &on_header,
                                                                       .body = &on_body,
                                                                       .open = &on_open,
                                                                       .close = &on_close,
                                                                       .sockets = this});
    } else {
      flight.handle = std::move(idle_.back());
      idle_.pop_back();
    }
  }

  void connect(Flight& flight) {
    take_handle(flight);
    flight.handle->prepare_connection(flight.request, &flight);
    flight.connects = true;
    curl_multi_add_handle(multi_.get(), flight.handle->get());
  }

  /// curl has connected: the socket is taken from it, which it forgets, and does not close.
  void connected(Flight& flight) {
    taken_ = flight.handle->socket();
    UniqueFd socket(taken_);
    give_back_handle(flight);
    const int fd = std::exchange(taken_, -1);
    auto wire = wires_.add(std::move(socket), server_of(flight.request.url));
    if (wire) return send(flight, **wire);
    sockets_.closed(fd);
    over(flight, {Outcome::Kind::refused, 0, std::move(wire).error()});
  }

  void send(Flight& flight, Wire& wire) {
    flight.wire = &wire;
    on_wire_[wire.fd()] = &flight;
    went_on(flight, wire.start(flight.request, *flight.exchange, now_, scratch_));
  }

  void rang(int fd, Wire& wire) {
    const auto found = on_wire_.find(fd);
    if (found != on_wire_.end()) return went_on(*found->second, wire.go_on(now_, scratch_));
    if (!wire.is_quiet()) close(fd);
  }

  void went_on(Flight& flight, Wire::Progress progress) {
    Wire& wire = *flight.wire;
    const std::uint32_t in = EPOLLIN;
    if (progress != Wire::Progress::over) {
      sockets_.wish(wire.fd(), progress == Wire::Progress::wait_write ? in | EPOLLOUT : in);
    } else if (wire.was_stale()) {
      give_back_wire(flight);
      connect(flight);  // not another that was kept: it may be as old
    } else {
      const Outcome outcome = wire.outcome();
      over(flight, outcome);
    }
  }

  /// Wires on which nothing moves.
  void end_stalled() {
    if (now_ < stalls_at_) return;
    stalls_at_ = now_ + stall_look();
    std::vector<Flight*> stalled;
    for (const auto& [fd, flight] : on_wire_) {
      const Nanos still = now_ - flight->wire->moved_at();
      if (still >
          (flight->wire->is_open() ? Nanos(options_.stall_timeout) : options_.connect_timeout))
        stalled.push_back(flight);
    }
    for (Flight* const flight : stalled) {
      const bool open = flight->wire->is_open();
      over(*flight, {open ? Outcome::Kind::broken : Outcome::Kind::no_connection, 0,
                     Error(Code::unavailable,
                           flight->wire->server() + (open ? ": no byte came for too long"
                                                          : ": no handshake within the time"))});
    }
  }
  Nanos stall_look() const {
    return std::min<Nanos>(std::chrono::seconds(1), options_.stall_timeout / 4);
  }

  void close(int fd) {
    sockets_.closed(fd);
    wires_.drop(fd);
  }

  void give_back_handle(Flight& flight) {
    curl_multi_remove_handle(multi_.get(), flight.handle->get());
    idle_.push_back(std::move(flight.handle));
    flight.connects = false;
  }

  void give_back_wire(Flight& flight) {
    Wire& wire = *std::exchange(flight.wire, nullptr);
    on_wire_.erase(wire.fd());
    if (!wire.can_be_kept()) return close(wire.fd());
    wires_.keep(wire);
    if (wires_.idle() > options_.max_active) close(wires_.longest_idle());
  }

  void end_attempt(Flight& flight) {
    if (flight.handle == nullptr && flight.wire == nullptr) return;
    if (flight.handle != nullptr) give_back_handle(flight);
    if (flight.wire != nullptr) give_back_wire(flight);
    --active_;
  }

  void over(Flight& flight, const Outcome& outcome) {
    end_attempt(flight);
    if (const auto delay = flight.exchange->end(outcome)) {
      later_.emplace(std::chrono::steady_clock::now() + *delay, flight.id);
    } else {
      forget(flight.id);
    }
  }

  void reap() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* owner = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
      Flight& flight = *static_cast<Flight*>(owner);
      if (flight.connects && message->data.result == CURLE_OK) {
        connected(flight);
      } else {
        over(flight, flight.handle->outcome(message->data.result, flight.status));
      }
    }
  }

  void drop(Id id) {
    const auto found = flights_.find(id);
    if (found == flights_.end()) return;
    end_attempt(*found->second);
    found->second->exchange->cancelled();
    forget(id);
  }

  void forget(Id id) {
    flights_.erase(id);
    load_.fetch_sub(1, std::memory_order_relaxed);
  }

  void sleep_and_work() {
    std::array<epoll_event, 64> events{};
    int wait = timeout();
    {
      const MutexLock lock(mutex_);
      sleeping_ = inbox_.arrivals.empty() && inbox_.cancelled.empty() && !inbox_.stop;
      if (!sleeping_) wait = 0;
    }
    const int count =
        ::epoll_wait(sockets_.epoll(), events.data(), static_cast<int>(events.size()), wait);
    now_ = std::chrono::steady_clock::now();
    int running = 0;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == bell_.get()) {
        std::uint64_t rings = 0;
        (void)!::read(bell_.get(), &rings, sizeof rings);
        continue;
      }
      if (Wire* const wire = wires_.find(event.data.fd); wire != nullptr) {
        rang(event.data.fd, *wire);
        continue;
      }
      if (!sockets_.wanted(event.data.fd)) continue;
      const int mask = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                       ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                       ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi_.get(), event.data.fd, mask, &running);
    }
    end_stalled();
    if (timer_ <= std::chrono::steady_clock::now()) {
      timer_ = kNever;
      curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
    }
  }

  /// Milliseconds until the next timer; -1: none.
  int timeout() const {
    auto next = timer_;
    if (!later_.empty()) next = std::min(next, later_.begin()->first);
    if (!on_wire_.empty()) next = std::min(next, stalls_at_);
    if (next == kNever) return -1;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
  }

  static int on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* client, void* /*own*/) {
    SocketWatch& sockets = static_cast<Impl*>(client)->sockets_;
    if (what == CURL_POLL_REMOVE) {
      sockets.no_wish(fd);
    } else {
      sockets.wish(fd, epoll_mask(what));
    }
    return 0;
  }

  /// CLOEXEC: programs that we start do not hold our connections.
  static curl_socket_t on_open(void* client, curlsocktype /*purpose*/, curl_sockaddr* address) {
    const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) static_cast<Impl*>(client)->sockets_.opened(fd);
    return fd;
  }

  static int on_close(void* client, curl_socket_t fd) {
    Impl& self = *static_cast<Impl*>(client);
    if (fd == self.taken_) return 0;
    self.sockets_.closed(fd);
    return ::close(fd);
  }

  static int on_timer(CURLM* /*multi*/, long milliseconds, void* client) {
    auto& self = *static_cast<Impl*>(client);
    self.timer_ = milliseconds < 0
                      ? kNever
                      : std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
  }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* owner) {
    auto& flight = *static_cast<Flight*>(owner);
    const std::string_view line(data, size * count);
    if (line.starts_with("HTTP/")) {  // also of an interim answer, which the next one replaces
      const auto blank = line.find(' ');
      flight.status = 0;
      if (blank != std::string_view::npos)
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), flight.status);
      return line.size();
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return line.size();
    // The buffer is curl's, made for us to use.
    for (std::size_t i = 0; i < colon; ++i) data[i] = lower(data[i]);
    flight.exchange->header(flight.status, line.substr(0, colon),
                            trim(line.substr(colon + 1), " \r\n"));
    return line.size();
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* owner) {
    auto& flight = *static_cast<Flight*>(owner);
    const std::string_view text(data, size * count);
    // Any other number than the size makes curl give up.
    return flight.exchange->body(flight.status, as_byte_span(text)) ? text.size() : 0;
  }

  static constexpr std::size_t kScratch = std::size_t{16} << 10U;
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  const LoopOptions options_;
  std::atomic<std::size_t> max_active_;
  std::atomic<std::size_t> load_{0};
  mutable Mutex mutex_;
  Inbox inbox_ HEADRACE_GUARDED_BY(mutex_);
  bool sleeping_ HEADRACE_GUARDED_BY(mutex_) = false;
  UniqueFd bell_;

  // The loop's thread only.
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::chrono::steady_clock::time_point timer_ = kNever;  // curl's
  Id last_id_ = 0;
  std::unordered_map<Id, std::unique_ptr<Flight>> flights_;
  std::deque<Id> waiting_;  // to begin, in order; of those that are gone, ids remain
  std::multimap<std::chrono::steady_clock::time_point, Id> later_;  // to begin again
  std::vector<std::unique_ptr<EasyHandle>> idle_;
  std::size_t active_ = 0;
  SocketWatch sockets_;
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  WirePool wires_;
  std::unordered_map<int, Flight*> on_wire_;  // by socket
  std::chrono::steady_clock::time_point stalls_at_{};
  int taken_ = -1;  // a socket that curl gives up, but does not close
  std::vector<char> scratch_ = std::vector<char>(kScratch);

  std::thread thread_;
};

Loop::Loop(const LoopOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Loop::~Loop() = default;

void Loop::start(std::unique_ptr<Exchange> exchange, const std::stop_token& stop) {
  impl_->start(std::move(exchange), stop);
}

void Loop::set_max_active(std::size_t max_active) { impl_->set_max_active(max_active); }

std::size_t Loop::load() const { return impl_->load(); }

void Loop::abandon(std::unique_ptr<Loop> loop) {
  loop->impl_->detach();
  (void)loop->impl_.release();  // NOLINT(bugprone-unused-return-value): leaked, as promised
}

}  // namespace headrace::http
