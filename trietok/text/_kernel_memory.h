/* What words and chunks became: a hash table of bytes → ids that never takes more than it may.

   In: bytes of UTF-8 and their ids. Out: the ids of bytes that have been met before.

   A key of at most 15 bytes lies in its slot as it is; a longer one is a hash there, and its bytes are in the arena.
   So are ids, where there are more than three. When the next entry would take more memory than allowed, all is
   forgotten. The hash depends on a random seed, so nobody can choose texts whose words all fall on one slot. */
#ifndef TRIETOK_KERNEL_MEMORY_H
#define TRIETOK_KERNEL_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- allocation, which a test can make fail ----------------------------------------------------------------------- */

#ifdef TRIETOK_FAILING_ALLOCATOR
static long long allocations_until_failure = -1, allocations_alive = 0;

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

/* ---- keys --------------------------------------------------------------------------------------------------------- */

enum { LONGEST_KEY = 255, LONGEST_SHORT = 15, IDS_IN_SLOT = 3 };

/* What a key stands for. Keys of two kinds are never the same. */
typedef enum { WORD, CHUNK, PAIR } KeyKind;

/* The last byte of a key's second number tells its kind and its length plus one, so that it is never 0, which is what
   an empty slot has. Of a long key the byte before it is its length, and the rest is where its bytes are. */
enum { KIND_SHIFT = 61, LENGTH_SHIFT = 56, LONG_LENGTH_SHIFT = 48, IS_LONG = 31 };
#define PLACE_MASK (((uint64_t)1 << LONG_LENGTH_SHIFT) - 1)

typedef struct {
    uint64_t key[2];
    uint32_t count;
    int32_t ids[IDS_IN_SLOT]; /* where there are more, the first is their place in the arena */
} Slot;

typedef struct {
    Slot *slots;
    uint64_t mask; /* the number of slots, a power of two, less one */
    uint8_t *arena;
    size_t arena_used, arena_size;
    size_t limit; /* bytes, of slots and arena, also while they grow */
    uint64_t seed[2];
    uint64_t words, chunks, pairs, times_full;
} Memory;

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t up_to_8_bytes(const uint8_t *bytes, size_t length)
{
    uint64_t number = 0;
    memcpy(&number, bytes, length);
    return number;
}

static uint64_t hash_of(const Memory *memory, const uint8_t *bytes, size_t length)
{
    uint64_t hash = memory->seed[0] ^ length;
    size_t at = 0;
    for (; at + 8 <= length; at += 8)
        hash = mixed(hash ^ up_to_8_bytes(bytes + at, 8), memory->seed[1]);
    return mixed(hash ^ up_to_8_bytes(bytes + at, length - at), memory->seed[1] ^ 0x9e3779b97f4a7c15u);
}

/* `end` is up to where bytes may be read. */
static inline void make_key(
    const Memory *memory, uint64_t key[2], KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    uint64_t tag = (uint64_t)kind << KIND_SHIFT;
    if (length > LONGEST_SHORT) {
        key[0] = hash_of(memory, bytes, length);
        key[1] = tag | (uint64_t)IS_LONG << LENGTH_SHIFT | (uint64_t)length << LONG_LENGTH_SHIFT;
        return;
    }
    uint64_t low, high = 0;
    if (end - bytes >= 16) { /* read too much and cut it off: no loop, no call */
        memcpy(&low, bytes, 8);
        if (length >= 8) {
            memcpy(&high, bytes + 8, 8);
            high &= ((uint64_t)1 << 8 * (length - 8)) - 1;
        } else {
            low &= ((uint64_t)1 << 8 * length) - 1;
        }
    } else {
        low = up_to_8_bytes(bytes, length < 8 ? length : 8);
        if (length > 8)
            high = up_to_8_bytes(bytes + 8, length - 8);
    }
    key[0] = low;
    key[1] = high | tag | (uint64_t)(length + 1) << LENGTH_SHIFT;
}

static inline int is_long_key(uint64_t second) { return (second >> LENGTH_SHIFT & 31) == IS_LONG; }

static inline uint64_t place_of(const Memory *memory, uint64_t first, uint64_t second)
{
    if (is_long_key(second))
        second &= ~PLACE_MASK;
    return mixed(first ^ memory->seed[0], second ^ memory->seed[1]) & memory->mask;
}

/* ---- looking up --------------------------------------------------------------------------------------------------- */

/* The slot of a key, or the empty one where it would be. */
static inline Slot *slot_of(const Memory *memory, const uint64_t key[2], const uint8_t *bytes, size_t length)
{
    int is_long = length > LONGEST_SHORT;
    for (uint64_t place = place_of(memory, key[0], key[1]);; place = (place + 1) & memory->mask) {
        Slot *slot = &memory->slots[place];
        if (!slot->key[1])
            return slot;
        if (slot->key[0] != key[0])
            continue;
        if (is_long ? (slot->key[1] & ~PLACE_MASK) == key[1]
                          && !memcmp(memory->arena + (slot->key[1] & PLACE_MASK), bytes, length)
                    : slot->key[1] == key[1])
            return slot;
    }
}

/* What bytes became; NULL where that is not remembered. It is good until the memory is next written. */
static inline const Slot *recall(
    const Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    uint64_t key[2];
    if (length > LONGEST_KEY)
        return NULL;
    make_key(memory, key, kind, bytes, length, end);
    const Slot *slot = slot_of(memory, key, bytes, length);
    return slot->key[1] ? slot : NULL;
}

static inline const int32_t *ids_in(const Memory *memory, const Slot *slot)
{
    return slot->count <= IDS_IN_SLOT ? slot->ids : (const int32_t *)(memory->arena + (uint32_t)slot->ids[0]);
}

/* ---- remembering -------------------------------------------------------------------------------------------------- */

enum { FEWEST_SLOTS = 1024 };

static size_t memory_bytes(const Memory *memory)
{
    return memory->slots ? (memory->mask + 1) * sizeof(Slot) + memory->arena_size : 0;
}

static uint64_t memory_entries(const Memory *memory) { return memory->words + memory->chunks + memory->pairs; }

/* Forget all and begin small again. -1 for no memory: then nothing has changed. */
static int forget_all(Memory *memory)
{
    Slot *slots = new_zeroed(FEWEST_SLOTS, sizeof(Slot));
    if (!slots)
        return -1;
    give_back(memory->slots);
    give_back(memory->arena);
    memory->slots = slots;
    memory->mask = FEWEST_SLOTS - 1;
    memory->arena = NULL;
    memory->arena_used = memory->arena_size = 0;
    memory->words = memory->chunks = memory->pairs = 0;
    return 0;
}

static void free_memory(Memory *memory)
{
    give_back(memory->slots);
    give_back(memory->arena);
    memory->slots = NULL;
    memory->arena = NULL;
}

static int grow_slots(Memory *memory)
{
    size_t before = memory->mask + 1, after = 2 * before;
    Slot *old = memory->slots, *slots = new_zeroed(after, sizeof(Slot));
    if (!slots)
        return -1;
    memory->slots = slots;
    memory->mask = after - 1;
    for (size_t i = 0; i < before; i++) {
        if (!old[i].key[1])
            continue;
        uint64_t place = place_of(memory, old[i].key[0], old[i].key[1]);
        while (slots[place].key[1])
            place = (place + 1) & memory->mask;
        slots[place] = old[i];
    }
    give_back(old);
    return 0;
}

/* See to it that there is room for one more entry with so many bytes in the arena, forgetting all if need be. */
static int make_room(Memory *memory, size_t more)
{
    size_t slots = (memory->mask + 1) * sizeof(Slot), arena = memory->arena_size;
    int lacks_slots = 2 * memory_entries(memory) > memory->mask, lacks_arena = memory->arena_used + more > arena;
    size_t wider = 2 * arena + more + 4096;
    size_t needed = slots + arena + (lacks_slots ? 2 * slots : 0) + (lacks_arena ? wider : 0);
    if ((lacks_slots || lacks_arena) && needed > memory->limit) {
        if (forget_all(memory))
            return -1;
        memory->times_full++;
        lacks_slots = 0;
        lacks_arena = more > 0;
        wider = more + 4096;
    }
    if (lacks_arena) {
        uint8_t *grown = resized(memory->arena, wider);
        if (!grown)
            return -1;
        memory->arena = grown;
        memory->arena_size = wider;
    }
    return lacks_slots ? grow_slots(memory) : 0;
}

static size_t put_into_arena(Memory *memory, const void *from, size_t length)
{
    size_t place = memory->arena_used;
    memcpy(memory->arena + place, from, length);
    memory->arena_used += (length + 7) & ~(size_t)7; /* ids lie where int32 may lie */
    return place;
}

/* Remember what bytes became, unless they are too long. -1 for no memory. */
static int remember(
    Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count)
{
    if (length > LONGEST_KEY || count > 4 * LONGEST_KEY)
        return 0;
    int is_long = length > LONGEST_SHORT, are_many = count > IDS_IN_SLOT;
    if (make_room(memory, (is_long ? length + 8 : 0) + (are_many ? count * sizeof *ids + 8 : 0)))
        return -1;
    uint64_t key[2];
    make_key(memory, key, kind, bytes, length, bytes + length);
    Slot *slot = slot_of(memory, key, bytes, length);
    if (slot->key[1])
        return 0; /* another thread was first */
    if (is_long)
        key[1] |= put_into_arena(memory, bytes, length);
    slot->count = (uint32_t)count;
    if (are_many)
        slot->ids[0] = (int32_t)(uint32_t)put_into_arena(memory, ids, count * sizeof *ids);
    else
        memcpy(slot->ids, ids, count * sizeof *ids);
    memcpy(slot->key, key, sizeof key);
    *(kind == WORD ? &memory->words : kind == CHUNK ? &memory->chunks : &memory->pairs) += 1;
    return 0;
}

#endif
