/* What words and chunks became: a hash table of bytes → numbers that never takes more than it may.

   In: bytes of UTF-8 and their ids. Out: the ids of bytes that have been met before.

   A key of at most 15 bytes lies in its slot as it is; a longer one is a hash there, and its bytes are in the arena.
   So are ids, where there are more than three. When the next entry would take more memory than allowed, all is
   forgotten. The hash depends on a random seed, so nobody can choose texts whose words all fall on one slot.

   Any number of threads may read while one writes, without a lock: an entry is there when the second number of its key
   is, which is written last; and a table that has become too small is replaced by a copy, not changed. The old one is
   retired: it is given back when no reader can have it any more, which the readers' epochs tell. */
#ifndef TRIETOK_KERNEL_MEMORY_H
#define TRIETOK_KERNEL_MEMORY_H

#include "_kernel_platform.h"

#include <stdlib.h>
#include <string.h>

/* ---- allocation, which a test can make fail ----------------------------------------------------------------------- */

#ifdef TRIETOK_FAILING_ALLOCATOR
static _Atomic long long allocations_until_failure = -1, allocations_alive = 0;

static int allocation_fails(void) { return allocations_until_failure >= 0 && allocations_until_failure-- == 0; }
static void count_allocations(int more) { allocations_alive += more; }
#else
static int allocation_fails(void) { return 0; }
static void count_allocations(int more) { (void)more; }
#endif

static void *new_zeroed(size_t count, size_t size)
{
    void *made = allocation_fails() ? NULL : calloc(count ? count : 1, size);
    count_allocations(made != NULL);
    return made;
}

static void *resized(void *from, size_t size)
{
    void *made = allocation_fails() ? NULL : realloc(from, size);
    count_allocations(made && !from);
    return made;
}

static void give_back(void *memory)
{
    count_allocations(-(memory != NULL));
    free(memory);
}

/* ---- hashes ------------------------------------------------------------------------------------------------------- */

enum { READ_AT_ONCE = 16 }; /* bytes that are read, and cut off, where there are fewer: no loop, no call */

typedef struct {
    uint64_t low, high;
} Pair;

static inline uint64_t up_to_8_bytes(const uint8_t *bytes, size_t length)
{
    uint64_t number = 0;
    memcpy(&number, bytes, length);
    return number;
}

static inline uint64_t low_bytes(uint64_t number, size_t count)
{
    return count < 8 ? number & (((uint64_t)1 << 8 * count) - 1) : number;
}

/* The first `length` bytes as two numbers, of at most 16; those up to `READ_AT_ONCE` must be there to be read. */
static inline Pair pair_of(const uint8_t *bytes, size_t length)
{
    Pair pair;
    memcpy(&pair, bytes, sizeof pair);
    pair.high = length > 8 ? low_bytes(pair.high, length - 8) : 0;
    pair.low = low_bytes(pair.low, length);
    return pair;
}

static uint64_t hash_of(const uint64_t seed[2], const uint8_t *bytes, size_t length)
{
    uint64_t hash = seed[0] ^ length;
    size_t at = 0;
    for (; at + 8 <= length; at += 8)
        hash = mixed(hash ^ up_to_8_bytes(bytes + at, 8), seed[1]);
    return mixed(hash ^ up_to_8_bytes(bytes + at, length - at), seed[1] ^ 0x9e3779b97f4a7c15u);
}

/* ---- keys --------------------------------------------------------------------------------------------------------- */

enum { LONGEST_KEY = 255, LONGEST_SHORT = 15, IDS_IN_SLOT = 3, MOST_IDS = 4 * LONGEST_KEY };

/* What a key stands for. Keys of two kinds are never the same. */
typedef enum { WORD, CHUNK, PAIR, STEPS } KeyKind;

/* The last byte of a key's second number tells its kind and its length plus one, so that it is never 0, which is what
   an empty slot has. Of a long key the byte before it is its length, and the rest is where its bytes are. */
enum { KIND_SHIFT = 61, LENGTH_SHIFT = 56, LONG_LENGTH_SHIFT = 48, IS_LONG = 31 };
#define PLACE_MASK (((uint64_t)1 << LONG_LENGTH_SHIFT) - 1)

typedef struct {
    uint64_t first;
    _Atomic uint64_t second; /* 0 in an empty slot; written last */
    uint32_t count;
    int32_t ids[IDS_IN_SLOT]; /* where there are more, the first is their place in the arena */
} Slot;

typedef struct Table {
    Slot *slots;
    uint64_t mask; /* the number of slots, a power of two, less one */
    uint8_t *arena;
    size_t arena_used, arena_size;
    uint64_t words, chunks, pairs, steps;
    uint64_t retired_in; /* the epoch */
    struct Table *next_retired;
} Table;

typedef struct {
    _Atomic(Table *) table;
    _Atomic uint64_t epoch; /* how many tables have been retired, from 1 on */
    Table *retired;
    size_t retired_bytes;
    size_t limit; /* bytes, of all tables, also while they grow */
    uint64_t seed[2];
    uint64_t times_full;
} Memory;

static inline Table *table_of(const Memory *memory)
{
    return atomic_load_explicit(&((Memory *)memory)->table, memory_order_acquire);
}

/* `end` is up to where bytes may be read. */
static inline Pair key_of(const Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    uint64_t tag = (uint64_t)kind << KIND_SHIFT;
    Pair key;
    if (length > LONGEST_SHORT) {
        key.low = hash_of(memory->seed, bytes, length);
        key.high = tag | (uint64_t)IS_LONG << LENGTH_SHIFT | (uint64_t)length << LONG_LENGTH_SHIFT;
        return key;
    }
    if (end - bytes >= READ_AT_ONCE) {
        key = pair_of(bytes, length);
    } else {
        key.low = up_to_8_bytes(bytes, length < 8 ? length : 8);
        key.high = length > 8 ? up_to_8_bytes(bytes + 8, length - 8) : 0;
    }
    key.high |= tag | (uint64_t)(length + 1) << LENGTH_SHIFT;
    return key;
}

static inline int is_long_key(uint64_t second) { return (second >> LENGTH_SHIFT & 31) == IS_LONG; }

static inline uint64_t hash_of_key(const Memory *memory, uint64_t first, uint64_t second)
{
    if (is_long_key(second))
        second &= ~PLACE_MASK;
    return mixed(first ^ memory->seed[0], second ^ memory->seed[1]);
}

/* ---- looking up --------------------------------------------------------------------------------------------------- */

/* The slot of a key, or NULL; `*place` is set to its place, or the empty one where it would be. */
static inline Slot *slot_of(
    const Memory *memory, const Table *table, Pair key, const uint8_t *bytes, size_t length, uint64_t *place)
{
    int is_long = length > LONGEST_SHORT;
    for (*place = hash_of_key(memory, key.low, key.high) & table->mask;; *place = (*place + 1) & table->mask) {
        Slot *slot = &table->slots[*place];
        uint64_t second = atomic_load_explicit(&slot->second, memory_order_acquire);
        if (!second)
            return NULL;
        if (slot->first != key.low)
            continue;
        if (is_long ? (second & ~PLACE_MASK) == key.high
                          && !memcmp(table->arena + (second & PLACE_MASK), bytes, length)
                    : second == key.high)
            return slot;
    }
}

typedef struct {
    const int32_t *ids; /* NULL where nothing is remembered */
    uint32_t count;
} Known;

/* What bytes became. It is good until the reader's next epoch. */
static inline Known recall(
    const Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    if (length > LONGEST_KEY)
        return (Known){NULL, 0};
    uint64_t place;
    const Table *table = table_of(memory);
    const Slot *slot = slot_of(memory, table, key_of(memory, kind, bytes, length, end), bytes, length, &place);
    if (!slot)
        return (Known){NULL, 0};
    if (slot->count <= IDS_IN_SLOT)
        return (Known){slot->ids, slot->count};
    return (Known){(const int32_t *)(table->arena + (uint32_t)slot->ids[0]), slot->count};
}

/* ---- remembering: by one writer at a time ------------------------------------------------------------------------- */

enum { FEWEST_SLOTS = 1024, LEAST_ARENA = 4096 };

static uint64_t table_entries(const Table *table) { return table->words + table->chunks + table->pairs + table->steps; }

static size_t bytes_of_table(const Table *table) { return (table->mask + 1) * sizeof(Slot) + table->arena_size; }

static size_t memory_bytes(const Memory *memory) { return bytes_of_table(table_of(memory)) + memory->retired_bytes; }

static void free_table(Table *table)
{
    if (table) {
        give_back(table->slots);
        give_back(table->arena);
    }
    give_back(table);
}

static Table *new_table(size_t slots, size_t arena_size)
{
    Table *table = new_zeroed(1, sizeof *table);
    if (!table)
        return NULL;
    table->slots = new_zeroed(slots, sizeof(Slot));
    table->arena = arena_size ? resized(NULL, arena_size) : NULL;
    if (!table->slots || (arena_size && !table->arena)) {
        free_table(table);
        return NULL;
    }
    table->mask = slots - 1;
    table->arena_size = arena_size;
    return table;
}

/* Let readers have another table from now on. */
static void publish(Memory *memory, Table *table)
{
    Table *before = table_of(memory);
    uint64_t epoch = atomic_load_explicit(&memory->epoch, memory_order_relaxed);
    atomic_store_explicit(&memory->table, table, memory_order_release);
    if (before) {
        before->retired_in = epoch;
        before->next_retired = memory->retired;
        memory->retired = before;
        memory->retired_bytes += bytes_of_table(before);
    }
    atomic_store_explicit(&memory->epoch, epoch + 1, memory_order_release);
}

/* Give back the tables that were retired before `epoch`. */
static void free_retired(Memory *memory, uint64_t epoch)
{
    for (Table **link = &memory->retired; *link;) {
        Table *table = *link;
        if (table->retired_in >= epoch) {
            link = &table->next_retired;
            continue;
        }
        *link = table->next_retired;
        memory->retired_bytes -= bytes_of_table(table);
        free_table(table);
    }
}

/* Begin anew with an empty table. -1 for no memory: then nothing has changed. */
static int forget_all(Memory *memory)
{
    Table *table = new_table(FEWEST_SLOTS, 0);
    if (!table)
        return -1;
    publish(memory, table);
    return 0;
}

static void free_memory(Memory *memory)
{
    free_retired(memory, UINT64_MAX);
    free_table(table_of(memory));
}

static void copy_entries(const Memory *memory, Table *to, const Table *from)
{
    for (uint64_t i = 0; i <= from->mask; i++) {
        const Slot *slot = &from->slots[i];
        uint64_t second = atomic_load_explicit(&slot->second, memory_order_relaxed);
        if (!second)
            continue;
        uint64_t place = hash_of_key(memory, slot->first, second) & to->mask;
        while (atomic_load_explicit(&to->slots[place].second, memory_order_relaxed))
            place = (place + 1) & to->mask;
        memcpy(&to->slots[place], slot, sizeof *slot);
    }
    if (from->arena_used)
        memcpy(to->arena, from->arena, from->arena_used);
    to->arena_used = from->arena_used;
    to->words = from->words;
    to->chunks = from->chunks;
    to->pairs = from->pairs;
    to->steps = from->steps;
}

/* See to it that the table has room for one more entry with so many bytes in the arena, forgetting all if need be: 1, 0
   where that has to wait until retired tables are given back, -1 for no memory. */
static int make_room(Memory *memory, size_t more, Table **made)
{
    Table *table = *made = table_of(memory);
    size_t slots = table->mask + 1, arena_size = table->arena_size;
    if (2 * table_entries(table) > table->mask)
        slots *= 2;
    if (table->arena_used + more > arena_size)
        arena_size = 2 * arena_size + more + LEAST_ARENA;
    if (slots == table->mask + 1 && arena_size == table->arena_size)
        return 1;
    size_t wanted = slots * sizeof(Slot) + arena_size;
    int is_full = bytes_of_table(table) + wanted > memory->limit;
    if (is_full ? memory->retired != NULL : memory_bytes(memory) + wanted > memory->limit)
        return 0;
    Table *grown = is_full ? new_table(FEWEST_SLOTS, more ? more + LEAST_ARENA : 0) : new_table(slots, arena_size);
    if (!grown)
        return -1;
    if (is_full)
        memory->times_full++;
    else
        copy_entries(memory, grown, table);
    publish(memory, grown);
    *made = grown;
    return 1;
}

static size_t put_into_arena(Table *table, const void *from, size_t length)
{
    size_t place = table->arena_used;
    memcpy(table->arena + place, from, length);
    table->arena_used += (length + 7) & ~(size_t)7; /* ids lie where int32 may lie */
    return place;
}

/* Remember what bytes became, unless they are too long or there is no room now. -1 for no memory. */
static int put_entry(
    Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count)
{
    if (length > LONGEST_KEY || count > MOST_IDS)
        return 0;
    int is_long = length > LONGEST_SHORT, are_many = count > IDS_IN_SLOT;
    Table *table;
    int has_room = make_room(memory, (is_long ? length + 8 : 0) + (are_many ? count * sizeof *ids + 8 : 0), &table);
    if (has_room <= 0)
        return has_room;
    uint64_t place;
    Pair key = key_of(memory, kind, bytes, length, bytes + length);
    if (slot_of(memory, table, key, bytes, length, &place))
        return 0; /* another thread was first */
    Slot *slot = &table->slots[place];
    slot->first = key.low;
    slot->count = (uint32_t)count;
    if (are_many)
        slot->ids[0] = (int32_t)(uint32_t)put_into_arena(table, ids, count * sizeof *ids);
    else
        memcpy(slot->ids, ids, count * sizeof *ids);
    if (is_long)
        key.high |= put_into_arena(table, bytes, length);
    *(kind == WORD ? &table->words : kind == CHUNK ? &table->chunks : kind == PAIR ? &table->pairs : &table->steps) += 1;
    atomic_store_explicit(&slot->second, key.high, memory_order_release);
    return 0;
}

#endif
