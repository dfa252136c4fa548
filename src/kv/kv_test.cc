// Block pool, block table and storage. No golden data needed.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.h"
#include "kv/block_pool.h"
#include "kv/block_table.h"
#include "kv/kv_storage.h"

namespace ridge {
namespace {

TEST(BlockPool, gives_all_or_nothing) {
  BlockPool pool(4);
  std::vector<int32_t> three(3), two(2, -7);
  ASSERT_TRUE(pool.allocate(three));
  const auto got = pool.allocate(two);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::limit);
  EXPECT_NE(got.error().message.find("1 of its 4 blocks free and 2 are needed"), std::string::npos)
      << got.error().message;
  EXPECT_EQ(two, (std::vector<int32_t>{-7, -7}));
  EXPECT_EQ(pool.n_free(), 1);
  EXPECT_TRUE(pool.consistent());
}

TEST(BlockPool, a_block_is_free_only_when_its_last_reference_goes) {
  BlockPool pool(1);
  std::vector<int32_t> block(1);
  ASSERT_TRUE(pool.allocate(block));
  pool.retain(block[0]);
  pool.release(block[0]);
  EXPECT_EQ(pool.n_free(), 0);
  pool.release(block[0]);
  EXPECT_EQ(pool.n_free(), 1);
}

TEST(BlockPool, no_blocks_is_a_pool_too) {
  BlockPool pool(0);
  EXPECT_TRUE(pool.allocate({}));
  std::vector<int32_t> one(1);
  EXPECT_FALSE(pool.allocate(one));
  EXPECT_TRUE(pool.consistent());
}

TEST(BlockPool, free_and_held_make_the_total_under_random_operations) {
  constexpr int32_t kBlocks = 37;
  BlockPool pool(kBlocks);
  std::map<int32_t, int32_t> model;  // the slow twin: references by block
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t bits = random_bits(1, 2, i);
    const auto pick = [&]() {
      return std::next(model.begin(), static_cast<int64_t>((bits >> 8) % model.size()))->first;
    };
    if (bits % 3 == 0) {
      std::vector<int32_t> out((bits >> 8) % 6);
      const bool fits = out.size() + model.size() <= kBlocks;
      ASSERT_EQ(static_cast<bool>(pool.allocate(out)), fits);
      for (int32_t block : out) {
        if (fits) {
          ASSERT_TRUE(model.emplace(block, 1).second) << "handed out twice";
        }
      }
    } else if (!model.empty() && bits % 3 == 1) {
      const int32_t block = pick();
      pool.retain(block);
      ++model[block];
    } else if (!model.empty()) {
      const int32_t block = pick();
      pool.release(block);
      if (--model[block] == 0) model.erase(block);
    }
    ASSERT_EQ(pool.n_held(), static_cast<int32_t>(model.size()));
    ASSERT_EQ(pool.n_free() + pool.n_held(), pool.n_blocks());
    if (i % 100 == 0) {
      ASSERT_TRUE(pool.consistent());
    }
  }
}

TEST(BlockTable, grows_and_shrinks_at_block_boundaries) {
  BlockPool pool(4);
  BlockTable table(pool, 128);
  for (int64_t n : {0, 1, 31, 32, 33, 64, 65, 128}) {
    ASSERT_TRUE(table.grow(n));
    EXPECT_EQ(static_cast<int64_t>(table.blocks().size()), (n + 31) / 32) << n;
  }
  EXPECT_FALSE(table.grow(129));
  EXPECT_EQ(table.blocks().size(), 4u);
  for (int64_t n : {128, 97, 96, 33, 32, 1, 0}) {
    table.truncate(n);
    EXPECT_EQ(static_cast<int64_t>(table.blocks().size()), (n + 31) / 32) << n;
    EXPECT_EQ(pool.n_held(), (n + 31) / 32);
  }
}

TEST(BlockTable, gives_its_blocks_back_when_it_dies_and_not_when_it_moves) {
  BlockPool pool(4);
  {
    BlockTable a(pool, 128);
    ASSERT_TRUE(a.grow(40));
    BlockTable b(std::move(a));
    EXPECT_EQ(pool.n_held(), 2);
    BlockTable c(pool, 128);
    ASSERT_TRUE(c.grow(10));
    c = std::move(b);
    EXPECT_EQ(c.blocks().size(), 2u);
  }
  EXPECT_EQ(pool.n_held(), 0);
  EXPECT_TRUE(pool.consistent());
}

TEST(BlockTable, a_shared_block_survives_its_first_owner) {
  BlockPool pool(4);
  BlockTable b(pool, 64);
  {
    BlockTable a(pool, 64);
    ASSERT_TRUE(a.grow(32));
    b.share(a.blocks()[0]);
  }
  EXPECT_EQ(pool.n_held(), 1);
  EXPECT_EQ(pool.references(b.blocks()[0]), 1);
}

const LayerState kLayer{.n_kv_head = 2, .k_dim = 64, .v_dim = 32};

TEST(KvStorage, takes_the_bytes_that_were_predicted_and_says_so_in_the_ledger) {
  const std::vector<LayerState> layers(3, kLayer);
  for (DType k : kv_types()) {
    for (DType v : kv_types()) {
      MemoryLedger ledger;
      const auto predicted = predict_kv_bytes(layers, {k, v}, 5);
      ASSERT_TRUE(predicted);
      {
        auto storage = KvStorage::allocate(ledger, layers, {k, v}, 5);
        ASSERT_TRUE(storage) << storage.error().message;
        EXPECT_EQ(ledger.total_bytes(), predicted->total());
        ASSERT_EQ(storage->layers().size(), 3u);
        // The last position of the last block lies inside: written to the end under a sanitizer.
        const KvLayer& last = storage->layers()[2];
        std::fill_n(last.k_row(4, 31), last.k_row_bytes(), std::byte{1});
        std::fill_n(last.v_row(4, 31), last.v_row_bytes(), std::byte{1});
        for (const auto& line : ledger.lines()) {
          EXPECT_EQ(line.owner, MemoryOwner::kv);
          EXPECT_TRUE(line.detail == fmt::format("K {}", info(k).name) ||
                      line.detail == fmt::format("V {}", info(v).name));
        }
      }
      EXPECT_EQ(ledger.total_bytes(), 0u);
    }
  }
}

TEST(KvStorage, f16_takes_two_bytes_a_value) {
  const auto bytes = predict_kv_bytes(std::vector<LayerState>(1, kLayer), {DType::f16, DType::f16}, 1);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->k, 32u * 2 * 64 * 2);
  EXPECT_EQ(bytes->v, 32u * 2 * 32 * 2);
}

TEST(KvStorage, refuses_a_type_that_is_no_cache_type_with_the_list) {
  const auto got = check_kv_types(std::vector<LayerState>(1, kLayer), {DType::f16, DType::q4_k});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unsupported);
  EXPECT_NE(got.error().message.find("q4_K for V: it must be one of f32, f16, bf16, q8_0, q4_0"), std::string::npos)
      << got.error().message;
  EXPECT_FALSE(parse_kv_type("q5_1"));
  EXPECT_FALSE(parse_kv_type("nonsense"));
  EXPECT_EQ(parse_kv_type("Q8_0").value(), DType::q8_0);
}

TEST(Buglog, KV_11_head_sizes_that_are_not_whole_blocks_are_refused) {
  for (int32_t dim : {64, 96, 128}) {
    const LayerState layer{.n_kv_head = 1, .k_dim = dim, .v_dim = dim};
    EXPECT_TRUE(check_kv_types(std::vector<LayerState>(1, layer), {DType::q8_0, DType::q4_0})) << dim;
  }
  for (int32_t dim : {1, 31, 33, 80}) {
    const LayerState layer{.n_kv_head = 1, .k_dim = 64, .v_dim = dim};
    const auto got = check_kv_types(std::vector<LayerState>(1, layer), {DType::q8_0, DType::q4_0});
    ASSERT_FALSE(got) << dim;
    EXPECT_NE(got.error().message.find("no multiple of 32"), std::string::npos) << got.error().message;
  }
}

TEST(KvStorage, sizes_beyond_all_memory_are_an_error_and_no_wrap) {
  const std::vector<LayerState> layers(1024, LayerState{.n_kv_head = 4096, .k_dim = 4096, .v_dim = 4096});
  const auto got = predict_kv_bytes(layers, {DType::f32, DType::f32}, int64_t{1} << 31);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::limit);
}

TEST(KvStorage, an_allocation_that_fails_names_the_predicted_bytes_and_leaves_nothing_behind) {
  MemoryLedger ledger;
  const std::vector<LayerState> layers(3, kLayer);
  for (long nth : {1, 2, 5}) {
    fail_allocations_from(nth);
    const auto got = KvStorage::allocate(ledger, layers, {}, 2);
    fail_allocations_from(0);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(got.error().message.find("49152 bytes of K"), std::string::npos) << got.error().message;
    EXPECT_EQ(ledger.total_bytes(), 0u);
  }
}

}  // namespace
}  // namespace ridge
