/* What words and chunks became: a hash table of bytes → numbers that never takes more than it may.

   In: bytes of UTF-8 and their ids. Out: the ids of bytes that have been met before.

   The table has four bytes a place, which lead to an entry. The entries lie one behind the other in the order in which
   they came, so those of frequent words lie together. A key of at most 15 bytes is in its entry as it is; of a longer
   one there is a hash, and its bytes are behind the entry. So are ids, where there are more than three. When the next
   entry would take more memory than allowed, all is forgotten. The hash depends on a random seed, so nobody can choose
   texts whose words all fall on one place.

   Any number of threads may read while one writes, without a lock: an entry is there when a place leads to it, which is
   written last; entries lie in segments and never move; and a table that has become too small is replaced by another,
   not changed. The old one is retired: it is given back when no reader can have it any more, which the readers' epochs
   tell. */
#ifndef TRIETOK_KERNEL_MEMORY_H
#define TRIETOK_KERNEL_MEMORY_H

#include "_kernel_platform.h"

#include <stdlib.h>
#include <string.h>

/* ---- allocation, which a test can make fail ---------------------------------------------------------------------- */

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

/* ---- UTF-8 ------------------------------------------------------------------------------------------------------- */

/* The code point at `at`, of UTF-8 that Python has made or that has been checked. */
static inline uint32_t code_point_at(const uint8_t *at, const uint8_t **next)
{
    uint8_t first = *at;
    if (first < 0x80) {
        *next = at + 1;
        return first;
    }
    if (first < 0xe0) {
        *next = at + 2;
        return (first & 31u) << 6 | (at[1] & 63u);
    }
    if (first < 0xf0) {
        *next = at + 3;
        return (first & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
    }
    *next = at + 4;
    return (first & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
}

static inline size_t put_code_point(uint8_t bytes[4], uint32_t code_point)
{
    if (code_point < 0x80) {
        bytes[0] = (uint8_t)code_point;
        return 1;
    }
    size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    bytes[0] = (uint8_t)((0xf00 >> length) | code_point >> 6 * (length - 1));
    for (size_t i = 1; i < length; i++)
        bytes[i] = (uint8_t)(0x80 | (code_point >> 6 * (length - 1 - i) & 63));
    return length;
}

/* ---- hashes ------------------------------------------------------------------------------------------------------ */

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

static const uint8_t kept_bytes[2 * READ_AT_ONCE] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/* The first `length` bytes as two numbers, of at most 16; those up to `READ_AT_ONCE` must be there to be read. */
static inline Pair pair_of(const uint8_t *bytes, size_t length)
{
    const uint8_t *kept = kept_bytes + READ_AT_ONCE - length; /* no branch: nobody can guess how long a word is */
    return (Pair){up_to_8_bytes(bytes, 8) & up_to_8_bytes(kept, 8), up_to_8_bytes(bytes + 8, 8) & up_to_8_bytes(kept + 8, 8)};
}

static uint64_t hash_of(const uint64_t seed[2], const uint8_t *bytes, size_t length)
{
    uint64_t hash = seed[0] ^ length;
    size_t at = 0;
    for (; at + 8 <= length; at += 8)
        hash = mixed(hash ^ up_to_8_bytes(bytes + at, 8), seed[1]);
    return mixed(hash ^ up_to_8_bytes(bytes + at, length - at), seed[1] ^ 0x9e3779b97f4a7c15u);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

enum { LONGEST_KEY = 255, LONGEST_SHORT = 15, IDS_IN_ENTRY = 3, MOST_IDS = 4 * LONGEST_KEY };

/* What a key stands for. Keys of two kinds are never the same. */
typedef enum { WORD, CHUNK, PAIR, STEPS, FOLD, TERM, KEY_KINDS } KeyKind;

/* The last byte of a key's second number tells its kind and its length plus one, so that it is never 0. Of a long key
   the byte before it is its length. */
enum { KIND_SHIFT = 61, LENGTH_SHIFT = 56, LONG_LENGTH_SHIFT = 48, IS_LONG = 31 };

/* Behind it are the bytes of a long key, then its ids if there are more than it has room for, then the starts, where terms
   go on that begin in a word; together a UNIT or more. */
typedef struct {
    uint64_t first, second; /* both 0 where the rest of a segment is empty */
    uint32_t count : 10;  /* of ids */
    uint32_t starts : 10; /* how many numbers they are */
    uint32_t behind : 12; /* of a word: before which bytes a term may begin in it, see `behind_bit` */
    int32_t ids[IDS_IN_ENTRY];
} Entry;

/* Entries lie in segments, each twice as large as the one before, so they never move. */
enum { ANY_BEHIND = (1 << 12) - 1, UNIT = sizeof(Entry), FIRST_SEGMENT = 13, SEGMENTS = 20 }; /* logarithm of the first one's bytes */

typedef struct {
    uint8_t *segments[SEGMENTS];
    uint64_t used; /* units */
    size_t bytes;  /* of all segments */
    uint64_t counts[KEY_KINDS]; /* of keys of each kind */
} Store;

typedef _Atomic uint32_t Place; /* 0, or an entry's number from 1 on and, above the table's mask, bits of its hash */

typedef struct Table {
    Place *places;
    uint64_t mask; /* the number of places, a power of two, less one */
    Store *store;
    int owns_store; /* no later table has it */
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

/* The entry of a number, which counts units. */
static inline Entry *entry_of(const Store *store, uint64_t number)
{
    uint64_t place = (number - 1) * UNIT + ((uint64_t)1 << FIRST_SEGMENT);
    unsigned top = highest_bit(place);
    return (Entry *)(void *)(store->segments[top - FIRST_SEGMENT] + (place ^ (uint64_t)1 << top));
}

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

/* The key of a word of ASCII; READ_AT_ONCE bytes must be there to be read. */
static inline Pair word_key(const uint8_t *bytes, size_t length)
{
    Pair key = pair_of(bytes, length);
    key.high |= (uint64_t)WORD << KIND_SHIFT | (uint64_t)(length + 1) << LENGTH_SHIFT;
    return key;
}

/* How many bytes of its key are behind an entry. */
static inline size_t long_length(const Entry *entry)
{
    return (entry->second >> LENGTH_SHIFT & 31) == IS_LONG ? entry->second >> LONG_LENGTH_SHIFT & 255 : 0;
}

static inline uint64_t hash_of_key(const Memory *memory, uint64_t first, uint64_t second)
{
    return mixed(first ^ memory->seed[0], second ^ memory->seed[1]);
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

/* The entry of a key, or NULL; `*at` is set to its place, or the empty one where it would be. */
static inline const Entry *find_entry(
    const Table *table, Pair key, uint64_t hash, const uint8_t *bytes, size_t length, uint64_t *at)
{
    for (*at = hash & table->mask;; *at = (*at + 1) & table->mask) {
        uint32_t place = atomic_load_explicit(&table->places[*at], memory_order_acquire);
        if (!place)
            return NULL;
        if ((place ^ (uint32_t)(hash >> 32)) & ~(uint32_t)table->mask)
            continue; /* it leads to one of another hash */
        const Entry *entry = entry_of(table->store, place & table->mask);
        if (entry->first == key.low && entry->second == key.high
            && (length <= LONGEST_SHORT || !memcmp(entry + 1, bytes, length)))
            return entry;
    }
}

typedef struct {
    const int32_t *ids; /* NULL where nothing is remembered */
    size_t count;
} Known;

/* How many starts there are, and the bits of what may be behind: of an entry. */
typedef struct {
    uint32_t count, behind;
} Starts;

/* How many ids are behind an entry; and how many starts, which are in it where there is room for all of them. */
static inline size_t ids_behind(size_t count) { return count > IDS_IN_ENTRY ? count : 0; }
static inline size_t starts_behind(size_t count, size_t starts)
{
    return count + starts > IDS_IN_ENTRY ? starts : 0;
}

/* How many units of a key's bytes, ids and starts are behind an entry. */
static inline size_t units_behind(size_t long_length, size_t count, size_t starts)
{
    size_t numbers = (ids_behind(count) + starts_behind(count, starts)) * sizeof(int32_t);
    return (((long_length + 3) & ~(size_t)3) + numbers + UNIT - 1) / UNIT;
}

static inline int32_t *behind_key(const Entry *entry)
{
    return (int32_t *)(void *)((Entry *)entry + 1) + (long_length(entry) + 3) / sizeof(int32_t);
}

/* Where the ids of an entry are. */
static inline int32_t *ids_of(const Entry *entry)
{
    return LIKELY(entry->count <= IDS_IN_ENTRY) ? ((Entry *)entry)->ids : behind_key(entry);
}

/* Where terms go on that begin in a word. */
static inline int32_t *starts_of(const Entry *entry)
{
    if (!starts_behind(entry->count, entry->starts))
        return ids_of(entry) + entry->count;
    return behind_key(entry) + ids_behind(entry->count);
}

static inline Known known_of(const Entry *entry) { return (Known){ids_of(entry), entry->count}; }

/* The entry of what bytes became, or NULL. It is good until the reader's next epoch. */
static inline const Entry *recall_entry(
    const Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    if (length > LONGEST_KEY)
        return NULL;
    uint64_t at;
    Pair key = key_of(memory, kind, bytes, length, end);
    return find_entry(table_of(memory), key, hash_of_key(memory, key.low, key.high), bytes, length, &at);
}

static inline Known recall(
    const Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const uint8_t *end)
{
    const Entry *entry = recall_entry(memory, kind, bytes, length, end);
    return entry ? known_of(entry) : (Known){NULL, 0};
}

/* ---- remembering: by one writer at a time ------------------------------------------------------------------------ */

enum { FEWEST_PLACES = 1024, MANY_PLACES = 1 << 16 };

static size_t bytes_of_table(const Table *table)
{
    return (table->mask + 1) * sizeof(Place) + (table->owns_store ? table->store->bytes : 0);
}

static size_t memory_bytes(const Memory *memory) { return bytes_of_table(table_of(memory)) + memory->retired_bytes; }

static void free_table(Table *table)
{
    if (table && table->owns_store && table->store) {
        for (int i = 0; i < SEGMENTS; i++)
            give_back(table->store->segments[i]);
        give_back(table->store);
    }
    if (table)
        give_back(table->places);
    give_back(table);
}

/* A table for the entries of a store, or for new ones. */
static Table *new_table(size_t places, Store *store)
{
    Table *table = new_zeroed(1, sizeof *table);
    if (!table)
        return NULL;
    table->mask = places - 1;
    table->places = new_zeroed(places, sizeof(Place));
    table->owns_store = !store;
    table->store = store ? store : new_zeroed(1, sizeof *store);
    if (table->places && table->store)
        return table;
    free_table(table);
    return NULL;
}

/* Let readers have another table from now on. */
static void publish(Memory *memory, Table *table)
{
    Table *before = table_of(memory);
    uint64_t epoch = atomic_load_explicit(&memory->epoch, memory_order_relaxed);
    if (before && before->store == table->store) {
        before->owns_store = 0;
        table->owns_store = 1;
    }
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
    Table *table = new_table(FEWEST_PLACES, NULL);
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

static void lead_to(Table *table, uint64_t at, uint64_t hash, uint64_t number)
{
    uint32_t tag = (uint32_t)(hash >> 32) & ~(uint32_t)table->mask;
    atomic_store_explicit(&table->places[at], tag | (uint32_t)number, memory_order_release);
}

static uint64_t first_of_next_segment(uint64_t number)
{
    uint64_t place = (number - 1) * UNIT + ((uint64_t)1 << FIRST_SEGMENT);
    return (((uint64_t)2 << highest_bit(place)) - ((uint64_t)1 << FIRST_SEGMENT)) / UNIT + 1;
}

/* Replace the table by one with so many places. -1 for no memory. */
static int grow_table(Memory *memory, size_t places)
{
    Store *store = table_of(memory)->store;
    Table *table = new_table(places, store);
    if (!table)
        return -1;
    for (uint64_t number = 1; number <= store->used;) {
        const Entry *entry = entry_of(store, number);
        uint64_t hash = hash_of_key(memory, entry->first, entry->second), at = hash & table->mask;
        if (!entry->second) {
            number = first_of_next_segment(number);
            continue;
        }
        while (atomic_load_explicit(&table->places[at], memory_order_relaxed))
            at = (at + 1) & table->mask;
        lead_to(table, at, hash, number);
        number += 1 + units_behind(long_length(entry), entry->count, entry->starts);
    }
    publish(memory, table);
    return 0;
}

/* See to it that there is room for one more entry of so many units, forgetting all if need be: 1, 0 where that has to
   wait until retired tables are given back, -1 for no memory. */
static int make_room(Memory *memory, size_t units)
{
    const Table *table = table_of(memory);
    Store *store = table->store;
    uint64_t next = first_of_next_segment(store->used + 1);
    if (store->used + units >= next) { /* an entry lies within a segment */
        if (store->used + 1 < next)
            *entry_of(store, store->used + 1) = (Entry){0};
        store->used = next - 1;
    }
    uint64_t place = store->used * UNIT + ((uint64_t)1 << FIRST_SEGMENT);
    unsigned top = highest_bit(place), segment = top - FIRST_SEGMENT;
    size_t places = table->mask + 1, wanted = 0;
    if (segment >= SEGMENTS || !store->segments[segment])
        wanted += (size_t)1 << top;
    if (4 * (store->used + units) > 3 * table->mask)
        wanted += sizeof(Place) * (places *= places < MANY_PLACES ? 4 : 2);
    if (!wanted)
        return 1;
    int is_full = bytes_of_table(table) + wanted > memory->limit || segment >= SEGMENTS;
    if (is_full ? memory->retired != NULL : memory_bytes(memory) + wanted > memory->limit)
        return 0;
    if (is_full) {
        if (forget_all(memory))
            return -1;
        memory->times_full++;
        return make_room(memory, units); /* perhaps only once what was forgotten is given back */
    }
    if (!store->segments[segment]) {
        store->segments[segment] = resized(NULL, (size_t)1 << top);
        if (!store->segments[segment])
            return -1;
        store->bytes += (size_t)1 << top;
    }
    return places > table->mask + 1 && grow_table(memory, places) ? -1 : 1;
}

/* Remember what bytes became, unless they are too long or there is no room now. Behind the ids are the starts. -1 for no
   memory. */
static int put_entry(Memory *memory, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count,
    Starts starts)
{
    if (length > LONGEST_KEY || count > MOST_IDS)
        return 0;
    size_t behind = length > LONGEST_SHORT ? length : 0, units = 1 + units_behind(behind, count, starts.count);
    int has_room = make_room(memory, units);
    if (has_room <= 0)
        return has_room;
    Table *table = table_of(memory);
    Store *store = table->store;
    /* A word lies where more may be read behind it. */
    Pair key = key_of(memory, kind, bytes, length, bytes + (kind == WORD ? length + READ_AT_ONCE : length));
    uint64_t at, hash = hash_of_key(memory, key.low, key.high);
    if (find_entry(table, key, hash, bytes, length, &at))
        return 0; /* another thread was first */
    Entry *entry = entry_of(store, store->used + 1);
    *entry = (Entry){key.low, key.high, (uint32_t)count, starts.count, starts.behind, {0}};
    memcpy(entry + 1, bytes, behind);
    memcpy(ids_of(entry), ids, count * sizeof *ids);
    memcpy(starts_of(entry), ids + count, starts.count * sizeof *ids);
    store->counts[kind]++;
    lead_to(table, at, hash, store->used + 1);
    store->used += units;
    return 0;
}

#endif
