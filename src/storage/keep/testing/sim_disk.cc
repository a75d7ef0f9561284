// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/testing/sim_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "headrace/base/random.h"

namespace headrace::keep::testing {

class SimFile final : public DiskFile {
 public:
  SimFile(std::shared_ptr<SimWorld> world, int process, std::string name, SimWorld::NodePtr node,
          std::uint64_t handle)
      : world_(std::move(world)),
        process_(process),
        name_(std::move(name)),
        node_(std::move(node)),
        handle_(handle) {}
  ~SimFile() override {
    const MutexLock lock(world_->mutex_);
    std::erase_if(node_->locks, [this](const auto& held) { return held.handle == handle_; });
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    HEADRACE_TRY(world_->begin(process_, "read", name_, into.size()));
    const MutexLock lock(world_->mutex_);
    const auto& content = node_->now;
    if (offset >= content.size()) return std::size_t{0};
    const std::size_t length = std::min<std::size_t>(into.size(), content.size() - offset);
    std::memcpy(into.data(), content.data() + offset, length);
    return length;
  }

  Result<std::size_t> read_at_hand(std::uint64_t /*offset*/,
                                   std::span<std::byte> /*into*/) override {
    return std::size_t{0};  // a disk that has no memory
  }

  Result<void> write_at(std::uint64_t offset, ByteSpan bytes) override {
    HEADRACE_TRY(world_->begin(process_, "write", name_, bytes.size()));
    const MutexLock lock(world_->mutex_);
    const std::uint64_t end = offset + bytes.size();
    const std::uint64_t grows = end > node_->now.size() ? end - node_->now.size() : 0;
    const std::uint64_t used = world_->total();
    const std::uint64_t room = world_->space_ - std::min(world_->space_, used);
    const bool full = grows > room;
    if (full) bytes = bytes.first(bytes.size() - std::min<std::size_t>(bytes.size(), grows - room));
    apply(node_->now, {offset, {bytes.begin(), bytes.end()}});
    node_->pending.push_back({offset, {bytes.begin(), bytes.end()}});
    node_->modified_ns = static_cast<std::int64_t>(world_->steps_);
    if (full) return errno_error(ENOSPC, "write");
    return {};
  }

  Result<bool> try_lock(LockByte byte, LockKind kind) override {
    HEADRACE_TRY(world_->begin(process_, "lock", name_, 0));
    const MutexLock lock(world_->mutex_);
    for (const auto& held : node_->locks) {
      if (held.byte != byte || held.handle == handle_) continue;
      if (kind == LockKind::exclusive || held.kind == LockKind::exclusive) return false;
    }
    std::erase_if(node_->locks,
                  [&](const auto& held) { return held.handle == handle_ && held.byte == byte; });
    node_->locks.push_back({handle_, process_, byte, kind});
    return true;
  }

  Result<void> unlock(LockByte byte) override {
    HEADRACE_TRY(world_->begin(process_, "unlock", name_, 0));
    const MutexLock lock(world_->mutex_);
    std::erase_if(node_->locks,
                  [&](const auto& held) { return held.handle == handle_ && held.byte == byte; });
    return {};
  }

  Result<bool> is_locked(LockByte byte) override {
    HEADRACE_TRY(world_->begin(process_, "ask", name_, 0));
    const MutexLock lock(world_->mutex_);
    return std::ranges::any_of(node_->locks, [&](const auto& held) {
      return held.handle != handle_ && held.byte == byte;
    });
  }

  Result<bool> is_linked() override {
    HEADRACE_TRY(world_->begin(process_, "stat", name_, 0));
    const MutexLock lock(world_->mutex_);
    return std::ranges::any_of(world_->names_,
                               [this](const auto& named) { return named.second == node_; });
  }

  static void apply(std::vector<std::byte>& content, const SimWorld::Write& write) {
    if (write.bytes.empty()) return;
    content.resize(std::max<std::size_t>(content.size(), write.offset + write.bytes.size()));
    std::ranges::copy(write.bytes, content.begin() + static_cast<std::ptrdiff_t>(write.offset));
  }

 private:
  const std::shared_ptr<SimWorld> world_;
  const int process_;
  const std::string name_;
  const SimWorld::NodePtr node_;
  const std::uint64_t handle_;
};

class SimDirectory final : public Disk {
 public:
  SimDirectory(std::shared_ptr<SimWorld> world, int process)
      : world_(std::move(world)), process_(process) {}

  std::string describe() const override { return "sim"; }

  Result<std::vector<DiskEntry>> list() override {
    HEADRACE_TRY(world_->begin(process_, "list", "", 0));
    const MutexLock lock(world_->mutex_);
    std::vector<DiskEntry> entries;
    for (const auto& [name, node] : world_->names_)
      entries.push_back({name, node->now.size(), node->modified_ns});
    return entries;
  }

  Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) override {
    HEADRACE_TRY(world_->begin(process_, mode == OpenMode::create ? "create" : "open", name, 0));
    const MutexLock lock(world_->mutex_);
    auto found = world_->names_.find(name);
    const bool missing = found == world_->names_.end();
    if (mode == OpenMode::create && !missing) return errno_error(EEXIST, "open").at(name);
    if (missing && (mode == OpenMode::create || mode == OpenMode::share)) {
      auto node = std::make_shared<SimWorld::Node>();
      found = world_->names_.emplace(name, node).first;
      world_->name_changed([name, node](SimWorld::Names& names) { names[name] = node; });
    }
    if (found == world_->names_.end()) return errno_error(ENOENT, "open").at(name);
    return std::unique_ptr<DiskFile>(
        std::make_unique<SimFile>(world_, process_, name, found->second, ++world_->handles_));
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    HEADRACE_TRY(world_->begin(process_, "rename", from, 0));
    const MutexLock lock(world_->mutex_);
    if (!world_->names_.contains(from)) return errno_error(ENOENT, "rename").at(from);
    const auto change = [from, to](SimWorld::Names& names) {
      const auto node = names.extract(from);
      if (!node.empty()) names[to] = node.mapped();
    };
    change(world_->names_);
    world_->name_changed(change);
    return {};
  }

  Result<void> remove(const std::string& name) override {
    HEADRACE_TRY(world_->begin(process_, "remove", name, 0));
    const MutexLock lock(world_->mutex_);
    if (world_->names_.erase(name) == 0) return errno_error(ENOENT, "remove").at(name);
    world_->name_changed([name](SimWorld::Names& names) { names.erase(name); });
    return {};
  }

  Result<void> touch(const std::string& name) override {
    HEADRACE_TRY(world_->begin(process_, "touch", name, 0));
    const MutexLock lock(world_->mutex_);
    const auto found = world_->names_.find(name);
    if (found != world_->names_.end())
      found->second->modified_ns = static_cast<std::int64_t>(world_->steps_);
    return {};
  }

  Result<DiskSpace> space() override {
    HEADRACE_TRY(world_->begin(process_, "space", "", 0));
    const MutexLock lock(world_->mutex_);
    return DiskSpace{world_->space_, world_->space_ - std::min(world_->space_, world_->total())};
  }

 private:
  const std::shared_ptr<SimWorld> world_;
  const int process_;
};

std::unique_ptr<Disk> SimWorld::mount(int process) {
  const MutexLock lock(mutex_);
  dead_[process] = false;
  return std::make_unique<SimDirectory>(shared_from_this(), process);
}

void SimWorld::set_hook(std::function<Result<void>(const SimOp&)> hook) {
  const MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

void SimWorld::set_space(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  space_ = bytes;
}

Result<void> SimWorld::begin(int process, const std::string& what, const std::string& file,
                             std::uint64_t bytes) {
  std::function<Result<void>(const SimOp&)> hook;
  SimOp op{process, 0, what, file, bytes};
  {
    const MutexLock lock(mutex_);
    if (is_dead(process)) return Error(Code::cancelled, "this process is dead");
    op.step = ++steps_;
    hook = hook_;
  }
  if (hook) HEADRACE_TRY(hook(op));
  const MutexLock lock(mutex_);
  if (is_dead(process)) return Error(Code::cancelled, "this process died");
  return {};
}

bool SimWorld::is_dead(int process) const {
  const auto found = dead_.find(process);
  return found == dead_.end() || found->second;
}

void SimWorld::name_changed(std::function<void(Names&)> change) {
  pending_names_.push_back(std::move(change));
}

std::uint64_t SimWorld::total() const {
  std::uint64_t sum = 0;
  for (const auto& [name, node] : names_) sum += node->now.size();
  return sum;
}

void SimWorld::kill(int process) {
  const MutexLock lock(mutex_);
  dead_[process] = true;
  for (const auto& [name, node] : names_)
    std::erase_if(node->locks, [process](const auto& held) { return held.process == process; });
}

void SimWorld::settle() {
  const MutexLock lock(mutex_);
  for (const auto& [name, node] : names_) {
    node->durable = node->now;
    node->pending.clear();
  }
  durable_names_ = names_;
  pending_names_.clear();
}

void SimWorld::cut_power(std::uint64_t seed) {
  const MutexLock lock(mutex_);
  Random random(seed);
  for (auto& [process, dead] : dead_) dead = true;
  const std::uint64_t kept = random.below(pending_names_.size() + 1);
  for (std::uint64_t i = 0; i < kept; ++i) pending_names_[i](durable_names_);
  pending_names_.clear();
  for (auto& [name, node] : durable_names_) {
    auto content = node->durable;
    for (Write& write : node->pending) {
      const auto fate = random.below(4);  // of four: two stay, one is cut, one is lost
      if (fate == 0) continue;
      if (fate == 1) write.bytes.resize(random.below(write.bytes.size() + 1));
      SimFile::apply(content, write);
    }
    auto after = std::make_shared<Node>();
    after->now = after->durable = std::move(content);
    after->modified_ns = node->modified_ns;
    node = std::move(after);
  }
  names_ = durable_names_;
}

std::uint64_t SimWorld::steps() const {
  const MutexLock lock(mutex_);
  return steps_;
}

std::uint64_t SimWorld::bytes() const {
  const MutexLock lock(mutex_);
  return total();
}

std::vector<std::string> SimWorld::files() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [name, node] : names_) found.push_back(name);
  return found;
}

void SimWorld::flip(const std::string& file, std::uint64_t bit) {
  const MutexLock lock(mutex_);
  auto& content = names_.at(file)->now;
  content.at(bit / 8) ^= std::byte(1U << (bit % 8));
}

}  // namespace headrace::keep::testing
