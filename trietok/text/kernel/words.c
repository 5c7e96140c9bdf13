/* A word -> its ids. `cache_get` (in kernel.h) looks up a word in the cache. If it is not there, `ids_of_word` finds
   the longest vocabulary token at the start of the word, then at the start of the rest, and so on (WordPiece).

   The vocabulary is a hash table. Tokens of at most 11 bytes are compared as two numbers. The first four bytes of the
   rest tell which token lengths are possible; these lengths are tried, longest first. So each piece costs one step for
   each possible length, independent of the length of the word. After it is filled, the vocabulary never changes.

   The cache is a hash table with four bytes in a slot, which refer to an entry. Entries are stored in the order of
   their first use, so frequent words are close together, and a lookup reads memory in two places. The hash has a
   random seed, so nobody can choose texts whose words collide. If the cache would exceed its share of the limit,
   nothing is added until the next checkpoint, which clears it. Between checkpoints entries do not move. */
#include "kernel.h"

/* ---- allocation, which a test can make fail ---------------------------------------------------------------------- */

#ifdef TRIETOK_FAILING_ALLOCATOR
Shared allocations_until_failure = -1, allocations_alive = 0;

static int allocation_fails(void)
{
    return shared_get(&allocations_until_failure) >= 0 && shared_add(&allocations_until_failure, -1) == 0;
}
static void count_allocations(int more) { shared_add(&allocations_alive, more); }
#else
static int allocation_fails(void) { return 0; }
static void count_allocations(int more) { (void)more; }
#endif

void *xcalloc(size_t count, size_t size)
{
    void *made = allocation_fails() ? NULL : calloc(count ? count : 1, size);
    count_allocations(made != NULL);
    return made;
}

void *xrealloc(void *from, size_t size)
{
    void *made = allocation_fails() ? NULL : realloc(from, size);
    count_allocations(made && !from);
    return made;
}

void xfree(void *memory)
{
    count_allocations(-(memory != NULL));
    free(memory);
}

/* ---- the vocabulary: looking up ---------------------------------------------------------------------------------- */

enum {
    LONGEST_INLINE = 11, /* in bytes */
    PIECE_TAG = 24,      /* the last byte of `Piece.high` */
    MOST_LONG = 1 << PIECE_TAG,
    FIRST_LONG = 31 /* tokens of so many bytes and more share one bit of `Vocabulary.lengths` */
};

/* The key of a token without its id. The bytes must be padded, except for a long token. */
static inline Piece piece_key(const Vocabulary *vocabulary, int place, const uint8_t *bytes, size_t length)
{
    uint32_t tag = (uint32_t)place << 31;
    if (UNLIKELY(length > LONGEST_INLINE))
        return (Piece){hash_of(vocabulary->seed, bytes, length), tag | (uint32_t)IS_LONG << PIECE_TAG, NO_ID};
    Pair pair = pair_of(bytes, length);
    return (Piece){pair.low, (uint32_t)pair.high | tag | (uint32_t)(length + 1) << PIECE_TAG, NO_ID};
}

static inline uint64_t piece_hash(const Vocabulary *vocabulary, uint64_t low, uint32_t high)
{
    if ((high >> PIECE_TAG & 31) == IS_LONG)
        high &= ~(uint32_t)(MOST_LONG - 1);
    return mix(low ^ vocabulary->seed[0], high ^ vocabulary->seed[1]);
}

static inline uint64_t *mark_of(const Vocabulary *vocabulary, uint64_t hash)
{
    return &vocabulary->marks[hash >> 32 & vocabulary->marks_mask];
}

/* The lengths of pieces that begin with four bytes. */
static inline uint32_t *lengths_of(const Vocabulary *vocabulary, int place, const uint8_t *bytes)
{
    uint64_t first = (uint64_t)place << 32 | read_bytes(bytes, 4);
    return &vocabulary->lengths[(first * FACTOR) >> 32 & vocabulary->lengths_mask];
}

/* Whether a piece with the right first number has these bytes. */
static inline int is_piece(
    const Vocabulary *vocabulary, const Piece *piece, uint32_t high, const uint8_t *bytes, size_t length)
{
    if (LIKELY(length <= LONGEST_INLINE))
        return piece->high == high;
    if ((piece->high & ~(uint32_t)(MOST_LONG - 1)) != high)
        return 0;
    const uint8_t *is = vocabulary->longs + (size_t)(piece->high & (MOST_LONG - 1)) * READ_AT_ONCE;
    return read_bytes(is, 2) == length && !memcmp(is + 2, bytes, length);
}

/* The id of a token, or NO_ID. */
static inline int32_t id_of_piece(const Vocabulary *vocabulary, int place, const uint8_t *bytes, size_t length)
{
    Piece key = piece_key(vocabulary, place, bytes, length);
    uint64_t hash = piece_hash(vocabulary, key.low, key.high);
    if (!(*mark_of(vocabulary, hash) >> (hash >> 58) & 1))
        return NO_ID;
    for (uint64_t at = hash & vocabulary->mask;; at = (at + 1) & vocabulary->mask) {
        const Piece *piece = &vocabulary->pieces[at];
        if (!piece->high)
            return NO_ID;
        if (piece->low == key.low && is_piece(vocabulary, piece, key.high, bytes, length))
            return piece->id;
    }
}

/* Try the lengths from FIRST_LONG. */
static int32_t longest_long_piece(
    const Vocabulary *vocabulary, int place, const uint8_t *rest, size_t left, size_t *length)
{
    for (size_t i = 0; i < vocabulary->long_count; i++) {
        *length = vocabulary->long_lengths[i];
        int32_t id = *length > left ? NO_ID : id_of_piece(vocabulary, place, rest, *length);
        if (id != NO_ID)
            return id;
    }
    return NO_ID;
}

/* The id and the length of the longest token at the start of `rest`, which must be padded, as must its end. NO_ID if
   there is none. */
int32_t longest_piece(const Vocabulary *vocabulary, int place, const uint8_t *rest, size_t left, size_t *length)
{
    uint32_t lengths = vocabulary->short_lengths;
    if (left >= 4)
        lengths |= *lengths_of(vocabulary, place, rest);
    if (UNLIKELY(lengths >> FIRST_LONG)) {
        int32_t id = longest_long_piece(vocabulary, place, rest, left, length);
        if (id != NO_ID)
            return id;
        lengths ^= (uint32_t)1 << FIRST_LONG;
    }
    if (left < FIRST_LONG)
        lengths &= ((uint32_t)2 << left) - 1;
    for (; lengths; lengths ^= (uint32_t)1 << *length) {
        *length = highest_bit(lengths);
        int32_t id = id_of_piece(vocabulary, place, rest, *length);
        if (id != NO_ID)
            return id;
    }
    *length = 1;
    return *rest < 0x80 ? vocabulary->of_byte[place][*rest] : NO_ID;
}

/* Write the ids of a word, which is not empty. There is space for one id for each byte, and READ_AT_ONCE bytes can be
   read after the word. Return the number of ids. */
size_t ids_of_word(const Vocabulary *vocabulary, const uint8_t *word, size_t size, size_t code_points, int32_t *ids)
{
    size_t count = 0, at = 0, length = 0;
    if (code_points <= vocabulary->longest_word) {
        for (; at < size; at += length) {
            int32_t id = longest_piece(vocabulary, at ? INSIDE : AT_START, word + at, size - at, &length);
            if (id == NO_ID)
                break;
            ids[count++] = id;
        }
    }
    if (at < size) {
        ids[0] = vocabulary->unknown;
        return 1;
    }
    return count;
}

/* ---- the vocabulary: making it ----------------------------------------------------------------------------------- */

/* Prepare for this number of tokens, each of which may be added twice. */
int vocabulary_begin(Vocabulary *vocabulary, size_t entries)
{
    size_t lengths = power_of_two(entries, 256), marks = power_of_two(entries / 4, 64); /* 16 bits for each token */
    vocabulary->added = xrealloc(NULL, (2 * entries + 1) * sizeof *vocabulary->added);
    vocabulary->marks = xcalloc(marks, sizeof *vocabulary->marks);
    vocabulary->lengths = xcalloc(lengths, sizeof *vocabulary->lengths);
    vocabulary->lengths_mask = lengths - 1;
    vocabulary->marks_mask = marks - 1;
    return vocabulary->added && vocabulary->marks && vocabulary->lengths ? 0 : NO_MEMORY;
}

static int note_long_length(Vocabulary *vocabulary, size_t length)
{
    size_t at = 0;
    while (at < vocabulary->long_count && vocabulary->long_lengths[at] > length)
        at++;
    if (at < vocabulary->long_count && vocabulary->long_lengths[at] == length)
        return 0;
    if (vocabulary->long_count == MOST_LONG_LENGTHS)
        return TOO_LARGE;
    uint16_t *lengths = vocabulary->long_lengths;
    memmove(lengths + at + 1, lengths + at, (vocabulary->long_count - at) * sizeof *lengths);
    lengths[at] = (uint16_t)length;
    vocabulary->long_count++;
    return 0;
}

/* Store the bytes of a long token. */
static int keep_long(Vocabulary *vocabulary, const uint8_t *bytes, size_t length)
{
    size_t size = (2 + length + READ_AT_ONCE - 1) / READ_AT_ONCE * READ_AT_ONCE, used = vocabulary->longs_size;
    if (used / READ_AT_ONCE >= MOST_LONG)
        return TOO_LARGE;
    if (used + size > vocabulary->longs_capacity) {
        uint8_t *longs = xrealloc(vocabulary->longs, 2 * (used + size));
        if (!longs)
            return NO_MEMORY;
        vocabulary->longs = longs;
        vocabulary->longs_capacity = 2 * (used + size);
    }
    uint16_t short_length = (uint16_t)length;
    memcpy(vocabulary->longs + used, &short_length, sizeof short_length);
    memcpy(vocabulary->longs + used + 2, bytes, length);
    vocabulary->longs_size += size;
    return 0;
}

/* Add a token of 1 to LONGEST_PIECE bytes, after which READ_AT_ONCE bytes can be read. If the same bytes are added
   twice, the first id counts. */
int vocabulary_add(Vocabulary *vocabulary, int place, const uint8_t *bytes, size_t length, int32_t id)
{
    Piece piece = piece_key(vocabulary, place, bytes, length);
    vocabulary->is_first[*bytes] |= place == AT_START;
    int result = length >= FIRST_LONG ? note_long_length(vocabulary, length) : 0;
    if (!result && length > LONGEST_INLINE) {
        *lengths_of(vocabulary, place, bytes) |= (uint32_t)1 << (length < FIRST_LONG ? length : FIRST_LONG);
        piece.high |= (uint32_t)(vocabulary->longs_size / READ_AT_ONCE);
        result = keep_long(vocabulary, bytes, length);
    }
    piece.id = id;
    vocabulary->added[vocabulary->count++] = piece;
    return result;
}

/* Insert a token into the hash table and the tables of lengths. */
static void place_piece(Vocabulary *vocabulary, const Piece *piece)
{
    uint64_t hash = piece_hash(vocabulary, piece->low, piece->high), at = hash & vocabulary->mask;
    uint32_t length = (piece->high >> PIECE_TAG & 31) - 1;
    int place = (int)(piece->high >> 31);
    uint8_t bytes[8];
    memcpy(bytes, &piece->low, 8);
    while (vocabulary->pieces[at].high)
        at = (at + 1) & vocabulary->mask;
    vocabulary->pieces[at] = *piece;
    *mark_of(vocabulary, hash) |= (uint64_t)1 << (hash >> 58);
    if (length < 4)
        vocabulary->short_lengths |= (uint32_t)1 << length & ~2u; /* tokens of one byte have a table */
    else if (length <= LONGEST_INLINE)
        *lengths_of(vocabulary, place, bytes) |= (uint32_t)1 << length;
}

/* Insert all tokens into the hash table. */
int vocabulary_finish(Vocabulary *vocabulary)
{
    uint8_t byte[READ_AT_ONCE] = {0};
    size_t slots = power_of_two(vocabulary->count + vocabulary->count / 2, 256);
    vocabulary->pieces = xcalloc(slots, sizeof *vocabulary->pieces);
    vocabulary->mask = slots - 1;
    if (!vocabulary->pieces)
        return NO_MEMORY;
    for (size_t i = 0; i < vocabulary->count; i++)
        place_piece(vocabulary, &vocabulary->added[i]);
    xfree(vocabulary->added);
    vocabulary->added = NULL;
    for (int place = AT_START; place <= INSIDE; place++)
        for (*byte = 0; *byte < 0x80; ++*byte)
            vocabulary->of_byte[place][*byte] = id_of_piece(vocabulary, place, byte, 1);
    return 0;
}

void vocabulary_free(Vocabulary *vocabulary)
{
    void *const all[] = {
        vocabulary->pieces, vocabulary->marks, vocabulary->lengths, vocabulary->added, vocabulary->longs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        xfree(all[i]);
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

enum { FEWEST_SLOTS = 1024, MANY_SLOTS = 1 << 16, UNIT = sizeof(Entry) };

/* The size of what follows an entry, in units of an entry. */
static size_t units_after(size_t long_length, size_t count, size_t starts)
{
    size_t numbers = (count > IDS_IN_ENTRY ? count : 0) + (count + starts > IDS_IN_ENTRY ? starts : 0);
    return ((long_length + 3) / 4 * 4 + numbers * sizeof(int32_t) + UNIT - 1) / UNIT;
}

static uint64_t first_of_next_segment(uint64_t number)
{
    uint64_t place = (number - 1) * UNIT + ((uint64_t)1 << FIRST_SEGMENT);
    return (((uint64_t)2 << highest_bit(place)) - ((uint64_t)1 << FIRST_SEGMENT)) / UNIT + 1;
}

static void lead_to(Cache *cache, uint64_t at, uint64_t hash, uint64_t number)
{
    cache->slots[at] = ((uint32_t)(hash >> 32) & ~(uint32_t)cache->mask) | (uint32_t)number;
}

/* Resize the table. Return 1; 0 if it would exceed the budget; -1 without memory. */
static int grow_slots(Worker *worker, size_t count)
{
    Cache *cache = &worker->cache;
    uint32_t *before = cache->slots;
    size_t bytes_before = (cache->mask + 1) * sizeof *before;
    if (!take_budget(worker, count * sizeof *before))
        return 0;
    cache->slots = xcalloc(count, sizeof *before);
    if (!cache->slots) {
        cache->slots = before;
        return_budget(worker, count * sizeof *before);
        return -1;
    }
    cache->mask = count - 1;
    for (uint64_t number = 1; number <= cache->used;) {
        const Entry *entry = entry_of(cache, number);
        if (!entry->high) {
            number = first_of_next_segment(number);
            continue;
        }
        uint64_t hash = hash_of_key(cache, (Pair){entry->low, entry->high}), at = hash & cache->mask;
        while (cache->slots[at])
            at = (at + 1) & cache->mask;
        lead_to(cache, at, hash, number);
        number += 1 + units_after(long_length(entry), entry->count, entry->starts);
    }
    xfree(before);
    return_budget(worker, bytes_before);
    return 1;
}

/* Allocate the segment of the next entry. Returns the same as `grow_slots`. */
static int add_segment(Worker *worker)
{
    Cache *cache = &worker->cache;
    unsigned top = highest_bit(cache->used * UNIT + ((uint64_t)1 << FIRST_SEGMENT)), segment = top - FIRST_SEGMENT;
    size_t size = (size_t)1 << top;
    if (segment >= SEGMENTS)
        return 0;
    if (cache->segments[segment])
        return 1;
    if (!take_budget(worker, size))
        return 0;
    cache->segments[segment] = xrealloc(NULL, size);
    if (!cache->segments[segment])
        return_budget(worker, size);
    return cache->segments[segment] ? 1 : -1;
}

/* Clear the cache. It keeps the smallest table. */
void cache_forget(Worker *worker)
{
    Cache *cache = &worker->cache;
    uint32_t *slots = cache->mask + 1 == FEWEST_SLOTS ? NULL : xcalloc(FEWEST_SLOTS, sizeof *slots);
    for (int i = 0; i < SEGMENTS; i++) {
        if (cache->segments[i])
            return_budget(worker, (size_t)1 << (FIRST_SEGMENT + i));
        xfree(cache->segments[i]);
        cache->segments[i] = NULL;
    }
    if (slots) {
        return_budget(worker, (cache->mask + 1 - FEWEST_SLOTS) * sizeof *slots);
        xfree(cache->slots);
        cache->slots = slots;
        cache->mask = FEWEST_SLOTS - 1;
    } else {
        memset(cache->slots, 0, (cache->mask + 1) * sizeof *slots);
    }
    shared_add(&worker->kernel->times_full, cache->is_full);
    cache->used = 0;
    cache->is_full = 0;
    memset(cache->counts, 0, sizeof cache->counts);
}

/* Create the smallest table. Return -1 without memory. */
int cache_begin(Worker *worker)
{
    Cache *cache = &worker->cache;
    cache->slots = xcalloc(FEWEST_SLOTS, sizeof *cache->slots);
    cache->mask = FEWEST_SLOTS - 1;
    worker->bytes = (long long)(FEWEST_SLOTS * sizeof *cache->slots); /* every worker needs so much */
    shared_add(&worker->kernel->budget, -worker->bytes);
    return cache->slots ? 0 : -1;
}

void cache_free(Cache *cache)
{
    for (int i = 0; i < SEGMENTS; i++)
        xfree(cache->segments[i]);
    xfree(cache->slots);
}

/* Make space for an entry of this size. Returns the same as `grow_slots`. */
static int make_room(Worker *worker, size_t units)
{
    Cache *cache = &worker->cache;
    uint64_t next = first_of_next_segment(cache->used + 1);
    if (cache->used + units >= next) { /* an entry must fit into one segment */
        if (cache->used + 1 < next)
            *entry_of(cache, cache->used + 1) = (Entry){0};
        cache->used = next - 1;
    }
    size_t slots = cache->mask + 1;
    int result = add_segment(worker);
    if (result == 1 && 4 * (cache->used + units) > 3 * slots)
        result = grow_slots(worker, slots < MANY_SLOTS ? 4 * slots : 2 * slots);
    return result;
}

/* Add padded bytes and their ids, unless they are too long or the cache is full. `ids` has `count` ids, then the
   numbers of `starts`. Return -1 without memory. */
int cache_put(
    Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count, Starts starts)
{
    Cache *cache = &worker->cache;
    if (length > LONGEST_KEY || count > MOST_IDS || cache->is_full)
        return 0;
    size_t after = length > LONGEST_SHORT ? length : 0, units = 1 + units_after(after, count, starts.count);
    int has_room = make_room(worker, units);
    cache->is_full = !has_room;
    if (has_room <= 0)
        return has_room;
    Pair key = key_of(cache, kind, bytes, length);
    uint64_t at, hash = hash_of_key(cache, key);
    if (cache_find(cache, key, hash, bytes, length, &at))
        return 0;
    Entry *entry = entry_of(cache, cache->used + 1);
    *entry = (Entry){key.low, key.high, (uint32_t)count, starts.count, starts.after, {0}};
    memcpy(entry + 1, bytes, after);
    memcpy(ids_of(entry), ids, count * sizeof *ids);
    memcpy(starts_of(entry), ids + count, starts.count * sizeof *ids);
    cache->counts[kind]++;
    lead_to(cache, at, hash, cache->used + 1);
    cache->used += units;
    return 0;
}
