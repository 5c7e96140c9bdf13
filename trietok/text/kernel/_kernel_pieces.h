/* WordPiece: the longest entry at the front of a word, then at the front of the rest, and so on. And the recipe for
   Chinese: the longest entry anywhere in a text, then left and right of it.

   In: the entries of a vocabulary with their ids, then words or texts of UTF-8. Out: the ids of their pieces.

   A hash table leads to the entries: to those that may begin a word, and to those that may continue one, without their
   prefix. An entry of at most 11 bytes lies in its place as it is. What the first four and the first eight bytes of a
   rest are tells which lengths an entry there may have; these are tried, the longest first. So a piece costs a step for
   each such length, whatever the length of the word. What is compared are whole entries, never hashes alone. All is
   made once and only read afterwards, so any number of kernels and threads may share it. */
#ifndef TRIETOK_KERNEL_PIECES_H
#define TRIETOK_KERNEL_PIECES_H

#include "_kernel_memory.h"

enum {
    FRONT = 0,
    REST = 1,
    LONGEST_PIECE = 1024,   /* bytes */
    FIRST_LONG = 31,        /* entries of so many bytes and more have one bit together */
    MOST_LONG_LENGTHS = 64, /* how many lengths such entries may have */
    MOST_ENTRIES = 1 << 26,
    PIECES_AHEAD = 16,
    FIRST_CHINESE = 0x4e00,
    LAST_CHINESE = 0x9fef,
    NO_ID = -1
};

/* The last byte of `high` tells the root of a piece and its length plus one, so that it is never 0, which is what an
   empty place has. Of a long one the rest is a hash, and in `high` where it lies among the long ones. */
enum { LONGEST_INLINE = 11, PIECE_TAG = 24, MOST_LONG = 1 << PIECE_TAG };

typedef struct {
    uint64_t low;
    uint32_t high;
    int32_t id;
} Piece;

typedef struct {
    Piece *places;
    uint64_t mask;   /* the number of places, a power of two, less one */
    uint64_t *marks; /* a bit by hash: where it is not set, there is no such entry; it is in the cache, they are not */
    uint64_t marks_mask;
    uint8_t *by_4;   /* by a hash of root and first bytes: bit n is set where an entry of n bytes may be, n in 4-7, and
                        bit 0 where a longer one may be */
    uint32_t *by_8;  /* the same from 8 bytes on */
    uint64_t by_mask;
    uint32_t short_lengths; /* bits 2 and 3: whether there are entries of so many bytes */
    Piece *added;    /* while it is made: the entries in turn */
    size_t count, room;
    uint8_t *longs;  /* of each long entry its length, and its bytes; from READ_AT_ONCE to READ_AT_ONCE */
    size_t longs_size, longs_room;
    uint16_t long_lengths[MOST_LONG_LENGTHS]; /* the longest first */
    size_t long_count;
    uint64_t seed[2];
    int32_t unknown;
    uint64_t longest_word;  /* code points */
    uint8_t begins[256];    /* whether an entry begins with a byte */
    int32_t ones[2][0x80];  /* the ids of entries of one byte */
    int32_t *chinese;       /* the ids of words of one character from FIRST_CHINESE on */
} Pieces;

/* A piece of no id yet; READ_AT_ONCE bytes behind its start must be there to be read, or all its bytes if it is
   long. */
static inline Piece piece_key(const Pieces *pieces, int root, const uint8_t *bytes, size_t length)
{
    uint32_t tag = (uint32_t)root << 31;
    if (UNLIKELY(length > LONGEST_INLINE))
        return (Piece){hash_of(pieces->seed, bytes, length), tag | (uint32_t)IS_LONG << PIECE_TAG, NO_ID};
    Pair pair = pair_of(bytes, length);
    return (Piece){pair.low, (uint32_t)pair.high | tag | (uint32_t)(length + 1) << PIECE_TAG, NO_ID};
}

static inline uint64_t piece_hash(const Pieces *pieces, uint64_t low, uint32_t high)
{
    if ((high >> PIECE_TAG & 31) == IS_LONG)
        high &= ~(uint32_t)(MOST_LONG - 1);
    return mixed(low ^ pieces->seed[0], high ^ pieces->seed[1]);
}

static inline uint64_t *mark_of(const Pieces *pieces, uint64_t hash)
{
    return &pieces->marks[hash >> 32 & pieces->marks_mask];
}

static inline uint8_t *lengths_by_4(const Pieces *pieces, int root, const uint8_t *bytes)
{
    uint64_t first = (uint64_t)root << 32 | up_to_8_bytes(bytes, 4);
    return &pieces->by_4[(first * 0x9e3779b97f4a7c15u) >> 32 & pieces->by_mask];
}

static inline uint32_t *lengths_by_8(const Pieces *pieces, int root, const uint8_t *bytes)
{
    uint64_t first = up_to_8_bytes(bytes, 8) ^ pieces->seed[0];
    return &pieces->by_8[(mixed(first, 0xe7037ed1a0b428dbu + (uint64_t)root) & pieces->by_mask) >> 1];
}

/* Whether a piece that has the key's low number is of these bytes. */
static inline int is_of_bytes(
    const Pieces *pieces, const Piece *piece, uint32_t high, const uint8_t *bytes, size_t length)
{
    if (LIKELY(length <= LONGEST_INLINE))
        return piece->high == high;
    if ((piece->high & ~(uint32_t)(MOST_LONG - 1)) != high)
        return 0;
    const uint8_t *is = pieces->longs + (size_t)(piece->high & (MOST_LONG - 1)) * READ_AT_ONCE;
    return up_to_8_bytes(is, 2) == length && !memcmp(is + 2, bytes, length);
}

/* The id of an entry; NO_ID where there is none. What must be there to be read: see `piece_key`. */
static inline int32_t id_of_piece(const Pieces *pieces, int root, const uint8_t *bytes, size_t length)
{
    Piece key = piece_key(pieces, root, bytes, length);
    uint64_t hash = piece_hash(pieces, key.low, key.high);
    if (!(*mark_of(pieces, hash) >> (hash >> 58) & 1))
        return NO_ID;
    for (uint64_t at = hash & pieces->mask;; at = (at + 1) & pieces->mask) {
        const Piece *piece = &pieces->places[at];
        if (!piece->high)
            return NO_ID;
        if (piece->low == key.low && is_of_bytes(pieces, piece, key.high, bytes, length))
            return piece->id;
    }
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

enum { NO_MEMORY = -1, TOO_LARGE = -2 };

static size_t power_of_two(size_t least, size_t from)
{
    while (from < least)
        from *= 2;
    return from;
}

/* Room to add so many lines, each of which may be an entry twice. */
static int make_pieces(Pieces *pieces, size_t lines)
{
    size_t by = power_of_two(lines, 256), marks = power_of_two(lines / 4, 64); /* 16 bits an entry */
    pieces->room = 2 * lines;
    pieces->added = resized(NULL, (pieces->room + 1) * sizeof *pieces->added);
    pieces->marks = new_zeroed(marks, sizeof *pieces->marks);
    pieces->by_4 = new_zeroed(by, sizeof *pieces->by_4);
    pieces->by_8 = new_zeroed(by / 2, sizeof *pieces->by_8);
    pieces->by_mask = by - 1;
    pieces->marks_mask = marks - 1;
    return pieces->added && pieces->marks && pieces->by_4 && pieces->by_8 ? 0 : NO_MEMORY;
}

/* Note that entries may have this length. */
static int note_long_length(Pieces *pieces, size_t length)
{
    size_t at = 0;
    while (at < pieces->long_count && pieces->long_lengths[at] > length)
        at++;
    if (at < pieces->long_count && pieces->long_lengths[at] == length)
        return 0;
    if (pieces->long_count == MOST_LONG_LENGTHS)
        return TOO_LARGE;
    memmove(pieces->long_lengths + at + 1, pieces->long_lengths + at, (pieces->long_count - at) * sizeof(uint16_t));
    pieces->long_lengths[at] = (uint16_t)length;
    pieces->long_count++;
    return 0;
}

/* Keep the bytes of a long entry. */
static int keep_long(Pieces *pieces, const uint8_t *bytes, size_t length)
{
    size_t size = (2 + length + READ_AT_ONCE - 1) / READ_AT_ONCE * READ_AT_ONCE;
    if (pieces->longs_size + size > pieces->longs_room) {
        uint8_t *longs = resized(pieces->longs, 2 * (pieces->longs_size + size));
        if (!longs)
            return NO_MEMORY;
        pieces->longs = longs;
        pieces->longs_room = 2 * (pieces->longs_size + size);
    }
    if (length > LONGEST_PIECE || pieces->longs_size / READ_AT_ONCE >= MOST_LONG)
        return TOO_LARGE;
    uint16_t short_length = (uint16_t)length;
    memcpy(pieces->longs + pieces->longs_size, &short_length, sizeof short_length);
    memcpy(pieces->longs + pieces->longs_size + 2, bytes, length);
    pieces->longs_size += size;
    return 0;
}

/* Add an entry that is not empty; READ_AT_ONCE bytes behind it must be there to be read. 0, NO_MEMORY, or TOO_LARGE
   where it, or the number of lengths, is so. It is put in its place later; of two for the same bytes the first
   counts. */
static int add_piece(Pieces *pieces, int root, const uint8_t *bytes, size_t length, int32_t id)
{
    Piece piece = piece_key(pieces, root, bytes, length);
    pieces->begins[*bytes] |= root == FRONT;
    int result = length >= FIRST_LONG ? note_long_length(pieces, length) : 0;
    if (!result && length > LONGEST_INLINE) {
        *lengths_by_4(pieces, root, bytes) |= 1;
        *lengths_by_8(pieces, root, bytes) |= (uint32_t)1 << (length < FIRST_LONG ? length : FIRST_LONG);
        piece.high |= (uint32_t)(pieces->longs_size / READ_AT_ONCE);
        result = keep_long(pieces, bytes, length);
    }
    piece.id = id;
    pieces->added[pieces->count++] = piece;
    return result;
}

/* Put an entry in its place, and note what leads to it; or only ask for the memory. */
static inline void place_piece(Pieces *pieces, const Piece *piece, int only_ask)
{
    uint64_t hash = piece_hash(pieces, piece->low, piece->high), at = hash & pieces->mask;
    uint32_t length = (piece->high >> PIECE_TAG & 31) - 1, root = piece->high >> 31;
    uint8_t bytes[8];
    memcpy(bytes, &piece->low, 8);
    if (only_ask) {
        FETCH(&pieces->places[at]);
        FETCH(mark_of(pieces, hash));
        FETCH(length < 8 ? (void *)lengths_by_4(pieces, (int)root, bytes) : lengths_by_8(pieces, (int)root, bytes));
        return;
    }
    while (pieces->places[at].high)
        at = (at + 1) & pieces->mask;
    pieces->places[at] = *piece;
    *mark_of(pieces, hash) |= (uint64_t)1 << (hash >> 58);
    if (length < 4)
        pieces->short_lengths |= (uint32_t)1 << length & ~2u; /* those of one byte have a table */
    else if (length < 8)
        *lengths_by_4(pieces, (int)root, bytes) |= (uint8_t)(1 << length);
    else if (length <= LONGEST_INLINE) {
        *lengths_by_4(pieces, (int)root, bytes) |= 1;
        *lengths_by_8(pieces, (int)root, bytes) |= (uint32_t)1 << length;
    }
}

/* Put all entries in their places. They are far from each other, so memory is asked for some entries ahead. */
static int place_pieces(Pieces *pieces)
{
    size_t places = power_of_two(pieces->count + pieces->count / 2, 256);
    pieces->places = new_zeroed(places, sizeof *pieces->places);
    pieces->mask = places - 1;
    for (size_t i = 0; pieces->places && i < pieces->count + PIECES_AHEAD; i++) {
        if (i < pieces->count)
            place_piece(pieces, &pieces->added[i], 1);
        if (i >= PIECES_AHEAD)
            place_piece(pieces, &pieces->added[i - PIECES_AHEAD], 0);
    }
    give_back(pieces->added);
    pieces->added = NULL;
    return pieces->places ? 0 : NO_MEMORY;
}

/* Make the tables of ids that are had without a hash. */
static int make_tables(Pieces *pieces, int has_words)
{
    uint8_t bytes[READ_AT_ONCE] = {0};
    for (int root = FRONT; root <= REST; root++)
        for (*bytes = 0; *bytes < 0x80; ++*bytes)
            pieces->ones[root][*bytes] = id_of_piece(pieces, root, bytes, 1);
    if (!has_words)
        return 0;
    pieces->chinese = resized(NULL, (LAST_CHINESE - FIRST_CHINESE + 1) * sizeof *pieces->chinese);
    for (uint32_t code = FIRST_CHINESE; pieces->chinese && code <= LAST_CHINESE; code++) {
        size_t length = put_code_point(bytes, code);
        int32_t id = pieces->longest_word ? id_of_piece(pieces, FRONT, bytes, length) : NO_ID;
        pieces->chinese[code - FIRST_CHINESE] = id == NO_ID ? pieces->unknown : id;
    }
    return pieces->chinese ? 0 : NO_MEMORY;
}

static void free_pieces(Pieces *pieces)
{
    void *const all[] = {pieces->places, pieces->marks, pieces->by_4, pieces->by_8, pieces->added, pieces->longs,
        pieces->chinese};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        give_back(all[i]);
}

/* ---- cutting words ----------------------------------------------------------------------------------------------- */

/* The id of the longest entry at the front of a rest, whose length is set. READ_AT_ONCE bytes behind it must be
   there. */
static inline int32_t longest_piece(const Pieces *pieces, int root, const uint8_t *rest, size_t left, size_t *length)
{
    uint32_t lengths = pieces->short_lengths;
    if (left >= 4)
        lengths |= *lengths_by_4(pieces, root, rest);
    if (lengths & 1 && left >= 8)
        lengths |= *lengths_by_8(pieces, root, rest);
    lengths &= ~1u;
    if (UNLIKELY(lengths >> FIRST_LONG)) {
        for (size_t i = 0; i < pieces->long_count; i++) {
            *length = pieces->long_lengths[i];
            int32_t id = *length > left ? NO_ID : id_of_piece(pieces, root, rest, *length);
            if (id != NO_ID)
                return id;
        }
        lengths ^= (uint32_t)1 << FIRST_LONG;
    }
    if (left < FIRST_LONG)
        lengths &= ((uint32_t)2 << left) - 1;
    for (; lengths; lengths ^= (uint32_t)1 << *length) {
        *length = highest_bit(lengths);
        int32_t id = id_of_piece(pieces, root, rest, *length);
        if (id != NO_ID)
            return id;
    }
    *length = 1;
    return *rest < 0x80 ? pieces->ones[root][*rest] : NO_ID;
}

/* The ids of a word that is not empty; there is room for as many as it has bytes, and READ_AT_ONCE bytes more can be
   read. Returns how many there are. */
static size_t ids_of_word(const Pieces *pieces, const uint8_t *word, size_t size, size_t code_points, int32_t *ids)
{
    size_t count = 0, at = 0, length = 0;
    if (code_points <= pieces->longest_word) {
        for (; at < size; at += length) {
            int32_t id = longest_piece(pieces, at ? REST : FRONT, word + at, size - at, &length);
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

/* ---- cutting texts without words --------------------------------------------------------------------------------- */

/* A code point of a text. */
typedef struct {
    uint32_t at;     /* in bytes */
    uint32_t length; /* of the longest entry that may begin here, in code points; 0 for none */
    uint32_t cut;    /* 0 as long as no piece holds it; at the start of a piece how many code points that has */
    int32_t id;
} CodePoint;

/* Find the longest entry of at most so many bytes that begins at a code point. */
static void longest_entry(const Pieces *pieces, const uint8_t *text, CodePoint *point, size_t most)
{
    size_t length = 0;
    point->id = most ? longest_piece(pieces, FRONT, text + point->at, most, &length) : NO_ID;
    point->length = 0;
    while (point->id != NO_ID && point[point->length].at < point->at + length)
        point->length++;
}

/* Cut so many code points, in which the longest entry has `longest`: for each length, the longest first, take every
   entry all of which is free, from the left to the right. Pieces are no shorter than it, so its ends tell. */
static void cut_stretch(
    const Pieces *pieces, const uint8_t *text, CodePoint *points, uint32_t count, uint32_t longest)
{
    for (uint32_t shorter; longest; longest = shorter) {
        shorter = 0;
        for (uint32_t i = 0; i < count; i++) {
            CodePoint *point = &points[i];
            if (point->length == longest && !point->cut && !point[longest - 1].cut) {
                for (uint32_t j = 0; j < longest; j++) {
                    point[j].length = 0;
                    point[j].cut = longest;
                }
                i += longest - 1;
            } else if (point->length == longest) {
                longest_entry(pieces, text, point, point->cut ? 0 : point[longest].at - point->at - 1);
            }
            shorter = point->length > shorter ? point->length : shorter;
        }
    }
}

/* The ids of the longest entry anywhere in a text, the leftmost of several, and of what is left and right of it, cut in
   the same way. There is room for as many ids as the text has bytes, and for as many code points and one more;
   READ_AT_ONCE bytes behind the text can be read. Returns how many there are. */
static size_t ids_anywhere(const Pieces *pieces, const uint8_t *text, size_t size, CodePoint *points, int32_t *ids)
{
    uint32_t length = 0, start = 0, end = 0, longest = 0;
    size_t count = 0;
    for (size_t at = 0; at < size; at++)
        if ((text[at] & 0xc0) != 0x80)
            points[length++] = (CodePoint){.at = (uint32_t)at};
    points[length].at = (uint32_t)size;
    for (uint32_t i = 0; i < length; i++)
        longest_entry(pieces, text, &points[i], size - points[i].at);
    for (uint32_t i = 0; i < length; i++) { /* no entry reaches from one stretch into the next */
        end = end > i + points[i].length ? end : i + points[i].length;
        longest = longest > points[i].length ? longest : points[i].length;
        if (end <= i + 1) {
            cut_stretch(pieces, text, points + start, i + 1 - start, longest);
            start = i + 1;
            longest = 0;
        }
    }
    for (uint32_t i = 0; i < length; i += points[i].cut ? points[i].cut : 1)
        ids[count++] = points[i].cut ? points[i].id : pieces->unknown;
    return count;
}

#endif
