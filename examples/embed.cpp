/*
 * embed.cpp: the same from C++: handles that close themselves, errors as exceptions. The headers are C with extern "C".
 *
 *   c++ -std=c++17 embed.cpp $(pkg-config --cflags --libs svmx) -o embed-cpp && ./embed-cpp
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <svmx/ops.h>
#include <vector>

struct Close {
    void operator()(svmx_executor_t *executor) const { svmx_close(executor); }
    void operator()(svmx_batch_t *batch) const { svmx_batch_destroy(batch); }
};
using Executor = std::unique_ptr<svmx_executor_t, Close>;
using Batch = std::unique_ptr<svmx_batch_t, Close>;
using Digest = std::array<uint8_t, 32>;

static Executor open_executor() {
    svmx_executor_t *executor = nullptr;
    svmx_error error;
    if (svmx_open(&executor, nullptr, &error) != SVMX_OK) throw std::runtime_error(error.text);
    return Executor(executor);
}

static Batch make_batch(const Executor &executor) {
    svmx_batch_t *batch = nullptr;
    if (svmx_batch_create(executor.get(), &batch) != SVMX_OK) throw std::runtime_error("no memory for a batch");
    return Batch(batch);
}

static std::vector<Digest> keccak256(svmx_batch_t *batch, const std::vector<std::string> &messages) {
    std::string data;
    std::vector<uint64_t> offsets{0};
    for (const std::string &message : messages) offsets.push_back((data += message).size());
    std::vector<Digest> digests(messages.size());
    const auto *bytes = reinterpret_cast<const uint8_t *>(data.data());
    if (svmx_batch_reset(batch) != SVMX_OK ||
        svmx_keccak256(batch, digests.front().data(), bytes, offsets.data(), messages.size()) != SVMX_OK ||
        svmx_run(batch) != SVMX_OK)
        throw std::runtime_error(svmx_batch_error(batch));
    return digests;
}

int main() {
    try {
        const Executor executor = open_executor(); // closed last: batches go before their executor
        const Batch batch = make_batch(executor);
        for (const Digest &digest : keccak256(batch.get(), {"abc", ""}))
            std::printf("%02x%02x%02x%02x...\n", digest[0], digest[1], digest[2], digest[3]);
        return 0; // 4e03657a... c5d24601...
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
