/* WordPiece: the longest entry at the front of a word, then at the front of the rest, and so on.

   In: the entries of a vocabulary with their ids, then words of UTF-8. Out: the ids of their pieces.

   The entries lie one behind the other, and a hash table leads to them: of those that may begin a word, and of those
   that may continue one, without their prefix. What the first four bytes of a rest are tells which lengths an entry
   there may have; these are tried, the longest first. So a piece costs a step for each such length, whatever the length
   of the word. What is compared are whole entries, never hashes alone. All is made once and only read afterwards, so
   any number of kernels and threads may share it. */
#ifndef TRIETOK_KERNEL_PIECES_H
#define TRIETOK_KERNEL_PIECES_H

#include "_kernel_memory.h"

enum {
    FRONT = 0,
    REST = 1,
    LONGEST_ENTRY = 1024,   /* bytes */
    BYTES_TOLD_BY = 4,      /* entries of fewer bytes are always tried */
    FIRST_LONG = 31,        /* entries of so many bytes and more have one bit together */
    MOST_LONG_LENGTHS = 64, /* how many lengths such entries may have */
    MOST_ENTRIES = 1 << 26,
    ENTRIES_AHEAD = 16,
    NO_ID = -1
};

typedef struct {
    uint32_t hash;
    uint32_t start;  /* in `bytes` */
    uint16_t length; /* 0 in an empty place */
    uint16_t root;
    int32_t id;
} Entry;

/* An entry that is not in its place yet. */
typedef struct {
    uint32_t place;
    Entry entry;
} Added;

typedef struct {
    Entry *entries;
    Added *added;
    size_t count;
    uint32_t mask;     /* the number of places for entries, a power of two, less one */
    uint64_t *marks;   /* a bit by hash: where it is not set, there is no such entry; it is in the cache, they are not */
    uint32_t marks_mask;
    uint8_t *bytes;    /* of all entries, and READ_AT_ONCE more */
    uint32_t *lengths; /* by a hash of root and first bytes: bit n is set where an entry of n bytes may be */
    uint32_t lengths_mask;
    uint16_t long_lengths[MOST_LONG_LENGTHS]; /* the longest first */
    size_t long_count;
    uint64_t seed[2];
    int32_t unknown;
    uint64_t longest_word; /* code points */
} Pieces;

/* An entry as it is looked for. READ_AT_ONCE bytes behind it must be there to be read. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
    int root;
    Pair pair; /* its bytes, if they are no more than READ_AT_ONCE */
    uint64_t hash;
} Wanted;

static inline Wanted wanted(const Pieces *pieces, int root, const uint8_t *bytes, size_t length)
{
    uint64_t tag = (uint64_t)root << 32 | length;
    Wanted entry = {bytes, length, root, {0, 0}, 0};
    if (length > READ_AT_ONCE) {
        entry.hash = mixed(hash_of(pieces->seed, bytes, length) ^ tag, pieces->seed[1]);
    } else {
        entry.pair = pair_of(bytes, length);
        entry.hash = mixed(entry.pair.low ^ pieces->seed[0] ^ tag, entry.pair.high ^ pieces->seed[1]);
    }
    return entry;
}

static inline uint64_t *mark_of(const Pieces *pieces, uint64_t hash)
{
    return &pieces->marks[(uint32_t)(hash >> 26) & pieces->marks_mask];
}

static inline int is_entry(const Pieces *pieces, const Entry *entry, const Wanted *is)
{
    if (entry->hash != (uint32_t)(is->hash >> 32) || entry->length != is->length || entry->root != is->root)
        return 0;
    const uint8_t *bytes = pieces->bytes + entry->start;
    if (is->length > READ_AT_ONCE)
        return !memcmp(bytes, is->bytes, is->length);
    Pair pair = pair_of(bytes, is->length);
    return pair.low == is->pair.low && pair.high == is->pair.high;
}

static inline uint32_t *lengths_at(const Pieces *pieces, int root, const uint8_t *bytes)
{
    uint32_t first;
    memcpy(&first, bytes, BYTES_TOLD_BY);
    uint64_t hash = ((uint64_t)root << 32 | first) * 0x9e3779b97f4a7c15u;
    return &pieces->lengths[(hash >> 32) & pieces->lengths_mask];
}

/* The id of an entry; NO_ID where there is none. */
static inline int32_t id_of_entry(const Pieces *pieces, int root, const uint8_t *bytes, size_t length)
{
    Wanted is = wanted(pieces, root, bytes, length);
    if (!(*mark_of(pieces, is.hash) >> (is.hash >> 58) & 1))
        return NO_ID;
    for (uint32_t at = (uint32_t)is.hash & pieces->mask;; at = (at + 1) & pieces->mask) {
        const Entry *entry = &pieces->entries[at];
        if (!entry->length)
            return NO_ID;
        if (is_entry(pieces, entry, &is))
            return entry->id;
    }
}

/* ---- making it ---------------------------------------------------------------------------------------------------- */

/* Note that entries may have this length. -1 where there are too many lengths. */
static int note_long_length(Pieces *pieces, size_t length)
{
    size_t at = 0;
    while (at < pieces->long_count && pieces->long_lengths[at] > length)
        at++;
    if (at < pieces->long_count && pieces->long_lengths[at] == length)
        return 0;
    if (pieces->long_count == MOST_LONG_LENGTHS)
        return -1;
    memmove(pieces->long_lengths + at + 1, pieces->long_lengths + at, (pieces->long_count - at) * sizeof(uint16_t));
    pieces->long_lengths[at] = (uint16_t)length;
    pieces->long_count++;
    return 0;
}

/* Note an entry that is not empty and whose bytes are in `bytes` already; it is put in its place later. -1 where it, or
   the number of lengths, is too large. */
static int add_entry(Pieces *pieces, int root, size_t start, size_t length, int32_t id)
{
    const uint8_t *bytes = pieces->bytes + start;
    if (length > LONGEST_ENTRY || (length >= FIRST_LONG && note_long_length(pieces, length)))
        return -1;
    if (length >= BYTES_TOLD_BY)
        *lengths_at(pieces, root, bytes) |= (uint32_t)1 << (length < FIRST_LONG ? length : FIRST_LONG);
    uint64_t hash = wanted(pieces, root, bytes, length).hash;
    *mark_of(pieces, hash) |= (uint64_t)1 << (hash >> 58);
    pieces->added[pieces->count++] = (Added){
        (uint32_t)hash, {(uint32_t)(hash >> 32), (uint32_t)start, (uint16_t)length, (uint16_t)root, id}};
    return 0;
}

/* Put all entries in their places. They are far from each other, so memory is asked for some entries ahead. */
static void place_entries(Pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        size_t ahead = i + ENTRIES_AHEAD < pieces->count ? i + ENTRIES_AHEAD : i;
        FETCH(&pieces->entries[pieces->added[ahead].place & pieces->mask]);
        uint32_t at = pieces->added[i].place & pieces->mask;
        while (pieces->entries[at].length)
            at = (at + 1) & pieces->mask;
        pieces->entries[at] = pieces->added[i].entry;
    }
    give_back(pieces->added);
    pieces->added = NULL;
}

/* Room for so many lines, of which so many have an entry for rests, too. -1 for no memory. */
static int make_pieces(Pieces *pieces, const char *bytes, size_t size, size_t lines, size_t rests)
{
    size_t places = 1024, lengths = 1024, marks = 64;
    while (2 * places < 3 * (lines + rests))
        places *= 2;
    while (lengths < lines)
        lengths *= 2;
    while (4 * marks < lines + rests) /* 16 bits an entry */
        marks *= 2;
    pieces->marks = new_zeroed(marks, sizeof *pieces->marks);
    pieces->entries = new_zeroed(places, sizeof *pieces->entries);
    pieces->added = resized(NULL, (lines + rests + 1) * sizeof *pieces->added);
    pieces->lengths = new_zeroed(lengths, sizeof *pieces->lengths);
    pieces->bytes = resized(NULL, size + READ_AT_ONCE);
    if (!pieces->marks || !pieces->entries || !pieces->added || !pieces->lengths || !pieces->bytes)
        return -1;
    pieces->mask = (uint32_t)(places - 1);
    pieces->marks_mask = (uint32_t)(marks - 1);
    pieces->lengths_mask = (uint32_t)(lengths - 1);
    memcpy(pieces->bytes, bytes, size);
    memset(pieces->bytes + size, 0, READ_AT_ONCE);
    return 0;
}

static void free_pieces(Pieces *pieces)
{
    give_back(pieces->marks);
    give_back(pieces->entries);
    give_back(pieces->added);
    give_back(pieces->lengths);
    give_back(pieces->bytes);
}

/* ---- cutting words ------------------------------------------------------------------------------------------------ */

/* The id of the longest entry at the front of a rest, whose length is set. */
static inline int32_t longest_entry(const Pieces *pieces, int root, const uint8_t *rest, size_t left, size_t *length)
{
    uint32_t lengths = left < BYTES_TOLD_BY ? 0 : *lengths_at(pieces, root, rest);
    if (lengths >> FIRST_LONG) {
        for (size_t i = 0; i < pieces->long_count; i++) {
            *length = pieces->long_lengths[i];
            int32_t id = *length > left ? NO_ID : id_of_entry(pieces, root, rest, *length);
            if (id != NO_ID)
                return id;
        }
    }
    lengths = (lengths | 14) & (((uint32_t)1 << FIRST_LONG) - 1); /* one, two and three bytes are always tried */
    if (left + 1 < FIRST_LONG)
        lengths &= ((uint32_t)2 << left) - 1;
    while (lengths) {
        *length = highest_bit(lengths);
        int32_t id = id_of_entry(pieces, root, rest, *length);
        if (id != NO_ID)
            return id;
        lengths ^= (uint32_t)1 << *length;
    }
    return NO_ID;
}

/* The ids of a word that is not empty; there is room for as many as it has bytes, and READ_AT_ONCE bytes more can be
   read. Returns how many there are. */
static size_t ids_of_word(const Pieces *pieces, const uint8_t *word, size_t size, size_t code_points, int32_t *ids)
{
    size_t count = 0, at = 0, length = 0;
    if (code_points <= pieces->longest_word) {
        for (; at < size; at += length) {
            int32_t id = longest_entry(pieces, at ? REST : FRONT, word + at, size - at, &length);
            if (id == NO_ID)
                break;
            ids[count++] = id;
        }
    }
    if (at < size) {
        ids[0] = pieces->unknown;
        return 1;
    }
    return count;
}

#endif
