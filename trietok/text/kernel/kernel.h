/* What the files of the kernel share. The kernel turns texts into ids, as `Pipeline` in Python does, for all that can be
   told of each character by itself; it asks Python about the rest, once, and remembers the answer.

       module.c    what Python sees: the types, and a check of all that comes from Python
       columns.c   batches of texts: threads; lists, arrays, ids in one run
       texts.c     a text -> words: characters, chunks between spaces
       terms.c     added tokens of several words, which begin in one chunk and end in another
       words.c     a word -> ids: the cache, then the entries of the vocabulary

   A kernel belongs to one pipeline. Its vocabulary and added tokens never change, and all threads read them. All else
   belongs to a worker: a cache, what is known of characters, and buffers. A thread has a worker to itself while it
   encodes. Workers wait in a pool, where the last one in is the first out; the pool is used with the GIL only.

   Offsets and sizes are in bytes of UTF-8 where nothing else is said. */
#ifndef TRIETOK_KERNEL_H
#define TRIETOK_KERNEL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- compilers --------------------------------------------------------------------------------------------------- */

#ifdef _MSC_VER

#include <intrin.h>

#define LIKELY(condition) (condition)
#define UNLIKELY(condition) (condition)
#define PREFETCH(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
}

static inline unsigned lowest_bit(uint64_t bits)
{
    unsigned long place;
    _BitScanForward64(&place, bits);
    return place;
}

static inline unsigned highest_bit(uint64_t bits)
{
    unsigned long place;
    _BitScanReverse64(&place, bits);
    return place;
}

/* A number that several threads change. */
typedef volatile long long Shared;
static inline long long shared_add(Shared *number, long long more) { return _InterlockedExchangeAdd64(number, more); }
static inline long long shared_get(Shared *number) { return *number; }

#if defined(_M_X64) && !defined(TRIETOK_NO_SIMD)
#define TRIETOK_SSE2
#endif

#else /* GCC and Clang */

#include <stdatomic.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the kernel reads bytes as numbers, the first byte as the lowest"
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PREFETCH(address) __builtin_prefetch(address)

/* Both halves of a product in one number: each of its bits depends on all of both factors. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The place of the lowest, and of the highest, bit that is set; there is one. */
static inline unsigned lowest_bit(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
static inline unsigned highest_bit(uint64_t bits) { return 63 - (unsigned)__builtin_clzll(bits); }

/* A number that several threads change. */
typedef _Atomic long long Shared;
static inline long long shared_add(Shared *number, long long more) { return atomic_fetch_add(number, more); }
static inline long long shared_get(Shared *number) { return atomic_load(number); }

#if defined(__SSE2__) && !defined(TRIETOK_NO_SIMD)
#define TRIETOK_SSE2
#endif

#endif

#ifdef TRIETOK_SSE2
#include <emmintrin.h>
#endif

/* Factors of hashes: the first is 2 to the 64th divided by the golden ratio (Knuth, The Art of Computer Programming,
   section 6.4), which spreads numbers that follow one another. */
#define FACTOR 0x9e3779b97f4a7c15u
#define OTHER_FACTOR 0xe7037ed1a0b428dbu

/* ---- sizes and results ------------------------------------------------------------------------------------------- */

enum {
    READ_AT_ONCE = 16, /* bytes that are read, and masked where there are fewer: no loop, no branch */
    PADDING = 64,      /* bytes that may be read behind a text; the first of them is a space */
    WORD_AT_HAND = 512,
    TEXT_AT_HAND = 4096,
    LONGEST_OUTPUT = 64,            /* bytes that a code point may become */
    LEAST_LIMIT = 1 << 18,          /* bytes, of all caches of a kernel */
    LONG_TEXT = 1 << 16,            /* a longer one is encoded without the GIL */
    CHECKPOINT_BYTES = 1 << 20,     /* of text between looks for signals */
    FIRST_CHINESE = 0x4e00,         /* of the characters for which a vocabulary has a table of ids */
    LAST_CHINESE = 0x9fef,
    MOST_VOCABULARIES = 32,         /* of added tokens; more are left to Python */
    MOST_TREES = 32,
    NO_ID = -1
};

/* What comes of reading a text or a part of it. UNSURE: Python has to tell. WHOLE_TEXT: Python has to have all of the
   text. TERM_STANDS: what is read goes on beyond the chunk, up to `Chunk.stop`. TOKEN_...: an added token may stand
   there, so Python has to have the part of the chunk around it, or all of the chunk. */
typedef enum { OK, FAILED, UNSURE, WHOLE_TEXT, TERM_STANDS, TOKEN_IN_PART, TOKEN_IN_CHUNK } Status;

/* What comes of taking something from Python. */
enum { NO_MEMORY = -1, TOO_LARGE = -2, PYTHON_ERROR = -3 };

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *from, size_t size);
void xfree(void *memory);

/* ---- UTF-8 and bytes --------------------------------------------------------------------------------------------- */

/* The code point at `at`, of UTF-8 that has been checked. */
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

static inline int is_alphanumeric(uint32_t code) { return (code | 32) - 'a' < 26 || code - '0' < 10; }

static inline const uint8_t *chunk_end(const uint8_t *at, const uint8_t *text_end)
{
    const uint8_t *space = memchr(at, ' ', (size_t)(text_end - at));
    return space ? space : text_end;
}

static inline uint64_t read_bytes(const uint8_t *bytes, size_t length)
{
    uint64_t number = 0;
    memcpy(&number, bytes, length);
    return number;
}

typedef struct {
    uint64_t low, high;
} Pair;

/* The first `length` bytes, of at most 16, as two numbers. READ_AT_ONCE bytes must be there to be read. */
static inline Pair pair_of(const uint8_t *bytes, size_t length)
{
    static const uint8_t kept[2 * READ_AT_ONCE] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *mask = kept + READ_AT_ONCE - length; /* no branch: nobody can guess how long a word is */
    return (Pair){read_bytes(bytes, 8) & read_bytes(mask, 8), read_bytes(bytes + 8, 8) & read_bytes(mask + 8, 8)};
}

static inline uint64_t hash_of(const uint64_t seed[2], const uint8_t *bytes, size_t length)
{
    uint64_t hash = seed[0] ^ length;
    size_t at = 0;
    for (; at + 8 <= length; at += 8)
        hash = mix(hash ^ read_bytes(bytes + at, 8), seed[1]);
    return mix(hash ^ read_bytes(bytes + at, length - at), seed[1] ^ FACTOR);
}

static inline size_t power_of_two(size_t least, size_t from)
{
    while (from < least)
        from *= 2;
    return from;
}

/* ---- the vocabulary: see words.c --------------------------------------------------------------------------------- */

enum { AT_START, INSIDE }; /* entries that begin a word, and that continue one, without their prefix */
enum { LONGEST_PIECE = 1024, MOST_LONG_LENGTHS = 64, MOST_PIECES = 1 << 26 };

/* An entry. The last byte of `high` has the length plus one, so that it is never 0, and whether the entry is one of
   INSIDE. Of a long entry the rest is a hash, and in `high` the place where its bytes are. */
typedef struct {
    uint64_t low;
    uint32_t high;
    int32_t id;
} Piece;

typedef struct {
    Piece *pieces; /* a hash table */
    uint64_t mask; /* the number of its places, a power of two, less one */
    uint64_t *marks, marks_mask; /* a bit by hash: where it is 0, there is no such entry */
    uint8_t *by_4;   /* by a hash of the first four bytes: bit n, in 4 to 7, says that there may be an entry of n bytes;
                        bit 0 that there may be a longer one */
    uint32_t *by_8;  /* the same by the first eight bytes, for entries of 8 bytes and more */
    uint64_t by_mask;
    uint32_t short_lengths; /* bits 2 and 3: whether there are entries of so many bytes */
    Piece *added;    /* while it is made: the entries in turn */
    size_t count;
    uint8_t *longs;  /* of each long entry its length, in two bytes, and its bytes; each begins at a READ_AT_ONCE */
    size_t longs_size, longs_room;
    uint16_t long_lengths[MOST_LONG_LENGTHS]; /* the longest first */
    size_t long_count;
    uint64_t seed[2];
    int32_t unknown;
    uint64_t longest_word;   /* code points */
    uint8_t is_first[256];   /* whether an entry of AT_START begins with a byte */
    int32_t of_byte[2][128]; /* ids of entries of one byte */
    int32_t *of_chinese;     /* ids of words of one character from FIRST_CHINESE on; NULL for added tokens */
} Vocabulary;

int vocabulary_begin(Vocabulary *vocabulary, size_t entries);
int vocabulary_add(Vocabulary *vocabulary, int place, const uint8_t *bytes, size_t length, int32_t id);
int vocabulary_finish(Vocabulary *vocabulary, int has_words);
void vocabulary_free(Vocabulary *vocabulary);
int32_t longest_piece(const Vocabulary *vocabulary, int place, const uint8_t *rest, size_t left, size_t *length);
size_t ids_of_word(const Vocabulary *vocabulary, const uint8_t *word, size_t size, size_t code_points, int32_t *ids);

/* ---- the cache: see words.c -------------------------------------------------------------------------------------- */

enum { LONGEST_KEY = 255, LONGEST_SHORT = 15, IDS_IN_ENTRY = 3, MOST_IDS = 4 * LONGEST_KEY, FIRST_SEGMENT = 13, SEGMENTS = 20 };

/* What bytes stand for: a word, a chunk, two characters that may compose, a chunk whose spans are wanted, a character
   where terms are looked for, a form of a term. Keys of two kinds are never the same. */
typedef enum { KEY_WORD, KEY_CHUNK, KEY_PAIR, KEY_STEPS, KEY_FOLD, KEY_TERM, KEY_KINDS } KeyKind;

/* What bytes became. Behind it lie the bytes of a long key, then its ids if there are more than it has room for, then
   the starts: where terms go on that begin in a word; see `find_starts`. */
typedef struct {
    uint64_t low, high;   /* the key; both 0 where the rest of a segment is empty */
    uint32_t count : 10;  /* of ids */
    uint32_t starts : 10; /* how many numbers these are */
    uint32_t behind : 12; /* before which bytes a term may begin in a word; see `behind_bit` */
    int32_t ids[IDS_IN_ENTRY];
} Entry;

typedef struct {
    uint32_t *places; /* a hash table: 0, or an entry's number from 1 on and, above the mask, bits of its hash */
    uint64_t mask;
    uint8_t *segments[SEGMENTS]; /* of entries, each twice as large as the one before: entries never move */
    uint64_t used;               /* of the segments, in sizes of an entry */
    uint64_t counts[KEY_KINDS];
    uint64_t seed[2];
    uint64_t times_full;
    int is_full; /* nothing more is remembered until the next checkpoint */
} Cache;

/* The last byte of a key's second number has its kind and its length plus one, or IS_LONG. Then the first number is a
   hash, and the second has the length too. */
enum { KIND_SHIFT = 61, LENGTH_SHIFT = 56, LONG_LENGTH_SHIFT = 48, IS_LONG = 31 };

/* The key of a short word; READ_AT_ONCE bytes must be there to be read. */
static inline Pair short_key(KeyKind kind, const uint8_t *bytes, size_t length)
{
    Pair key = pair_of(bytes, length);
    key.high |= (uint64_t)kind << KIND_SHIFT | (uint64_t)(length + 1) << LENGTH_SHIFT;
    return key;
}

static inline Pair key_of(const Cache *cache, KeyKind kind, const uint8_t *bytes, size_t length)
{
    if (LIKELY(length <= LONGEST_SHORT))
        return short_key(kind, bytes, length);
    uint64_t tag = (uint64_t)kind << KIND_SHIFT | (uint64_t)IS_LONG << LENGTH_SHIFT;
    return (Pair){hash_of(cache->seed, bytes, length), tag | (uint64_t)length << LONG_LENGTH_SHIFT};
}

static inline uint64_t hash_of_key(const Cache *cache, Pair key)
{
    return mix(key.low ^ cache->seed[0], key.high ^ cache->seed[1]);
}

static inline Entry *entry_of(const Cache *cache, uint64_t number)
{
    uint64_t place = (number - 1) * sizeof(Entry) + ((uint64_t)1 << FIRST_SEGMENT);
    unsigned top = highest_bit(place);
    return (Entry *)(void *)(cache->segments[top - FIRST_SEGMENT] + (place ^ (uint64_t)1 << top));
}

/* How many bytes of its key lie behind an entry. */
static inline size_t long_length(const Entry *entry)
{
    return (entry->high >> LENGTH_SHIFT & 31) == IS_LONG ? entry->high >> LONG_LENGTH_SHIFT & 255 : 0;
}

/* The ids of an entry; behind them are its starts, but for what has more ids than an entry has room for. */
static inline int32_t *ids_of(const Entry *entry)
{
    if (LIKELY(entry->count <= IDS_IN_ENTRY))
        return ((Entry *)entry)->ids;
    return (int32_t *)(void *)((Entry *)entry + 1) + (long_length(entry) + 3) / sizeof(int32_t);
}

static inline int32_t *starts_of(const Entry *entry)
{
    if (entry->count + entry->starts <= IDS_IN_ENTRY || entry->count > IDS_IN_ENTRY)
        return ids_of(entry) + entry->count;
    return (int32_t *)(void *)((Entry *)entry + 1) + (long_length(entry) + 3) / sizeof(int32_t);
}

/* The entry of a key, or NULL; `*at` is set to its place, or the empty one where it would be. */
static inline Entry *cache_find(const Cache *cache, Pair key, uint64_t hash, const uint8_t *bytes, size_t length, uint64_t *at)
{
    for (*at = hash & cache->mask;; *at = (*at + 1) & cache->mask) {
        uint32_t place = cache->places[*at];
        if (!place)
            return NULL;
        if ((place ^ (uint32_t)(hash >> 32)) & ~(uint32_t)cache->mask)
            continue; /* it leads to one of another hash */
        Entry *entry = entry_of(cache, place & cache->mask);
        if (entry->low == key.low && entry->high == key.high
            && (length <= LONGEST_SHORT || !memcmp(entry + 1, bytes, length)))
            return entry;
    }
}

/* How many numbers of starts there are behind the ids of a word, and their bits; see `Entry`. */
typedef struct {
    uint32_t count, behind;
} Starts;

/* ---- characters: see texts.c ------------------------------------------------------------------------------------- */

/* What becomes of a code point. UNASKED is 0, as new pages are. */
enum { UNASKED, ORDINARY, DELETED, SPACE, ALONE, HAND_OVER, KINDS };

/* IS_KEY: an added token may stand around it. IS_BOUNDARY: spaces are set around it. MAY_COMPOSE: with what is before
   it. IS_PLAIN: it is not composed itself, so two characters tell whether what follows composes with it. MAY_PASS: of
   ASCII that added tokens hold; what else is said of it holds where none of them stands. */
enum { IS_KEY = 1, IS_BOUNDARY = 2, MAY_COMPOSE = 4, IS_PLAIN = 8, MAY_PASS = 16, FLAGS = 32 };

enum { PAGE = 512, PAGES = 0x110000 / PAGE, SHORT_OUTPUT = 4 };

typedef struct {
    uint8_t kind, combining_class, length, flags;
    union {
        int32_t id;                  /* of what is ALONE */
        uint8_t bytes[SHORT_OUTPUT]; /* what it becomes */
        uint32_t place;              /* in `Worker.outputs`, of more bytes */
    };
} Char;

/* What a byte behind a word gives, if it is no id. */
enum { CHUNK_ENDS = -1, WORD_ENDS = -2, LOOK_CLOSER = -3 };

/* ---- terms: see terms.c ------------------------------------------------------------------------------------------ */

enum { NODE_BITS = 26, SEVERAL = (1 << NODE_BITS) - 1, DELETED_FOLD = 0xff };

typedef struct TermNode TermNode;

typedef struct {
    TermNode *nodes;
    uint32_t count, room;
    uint32_t *tables, width;     /* of children: `width` nodes each, one a symbol */
    uint8_t symbols[256];        /* of bytes; 0 of those that are in no term */
    uint8_t is_in_head[256];     /* whether a byte is before the first space of some term */
    uint8_t ends_head[256];      /* whether it is right before a space */
    uint64_t *marks, marks_mask; /* a bit by hash: where it is 0, no term has such a head */
    uint64_t *heads, heads_mask; /* by the same hash; see `head_place` */
    uint64_t *edges;             /* of each term: see `edge_hash` */
    size_t edge_count;
} Tree;

int tree_fill(Tree *tree, PyObject *forms);
void tree_free(Tree *tree);

/* ---- the kernel and its workers ---------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Vocabulary all;
} VocabularyObject;

typedef struct {
    PyObject_HEAD
    Tree all;
} TermsObject;

/* What the kernel asks Python, by the names of methods; see `Questions` in choosing.py. */
enum { CLASSIFY, STAY_APART, COMPOSE, IDS, STEPS, FOLD, SETTLE, QUESTIONS };

typedef struct Worker Worker;

typedef struct {
    PyObject_HEAD
    PyObject *questions[QUESTIONS];
    PyObject *vocabulary_object, *patterns_object, *terms_object;
    const Vocabulary *vocabulary;
    const Vocabulary *patterns[MOST_VOCABULARIES]; /* of what added tokens of one word look like, in lower case */
    size_t pattern_count, longest_pattern;         /* bytes; 0 where all are short */
    int has_patterns;                              /* whether all added tokens of one word are in them */
    const Tree *trees[MOST_TREES];
    size_t tree_count;
    uint64_t *edges, edges_mask; /* of all trees; see `has_no_edge` */
    uint8_t folds[128];          /* what ASCII looks like where terms are looked for */
    uint8_t is_in_head[256], ends_head[256]; /* of any tree */
    uint32_t alone_first, alone_last; /* code points that are set between spaces and become themselves */
    uint32_t chinese_count;           /* how many of them, from the first on, the vocabulary has a table for */
    PyObject **ints;                  /* made before, by number */
    uint64_t seed[2];
    Worker *pool;
    Shared worker_count; /* in the pool and at work */
    long long limit;     /* bytes, of what all workers remember */
    Shared room;         /* what none of them has taken of that */
    long long helped;    /* how many threads have helped with batches */
    unsigned forgotten;  /* how often all was */
    long process;        /* in which its workers were made; see `check_process` */
    long long at_work;   /* threads that help now */
} Kernel;

/* What a thread has while it encodes, and what it remembers from one time to the next. */
struct Worker {
    Kernel *kernel;
    Worker *next; /* in the pool */
    unsigned forgotten;
    long process;
    /* what is remembered */
    long long bytes, char_bytes; /* that it takes of the kernel's room, and those of them for characters */
    Cache cache;
    Char *pages[PAGES];
    uint8_t *outputs; /* of code points that become more than SHORT_OUTPUT bytes */
    size_t outputs_used, outputs_room;
    uint64_t is_simple[0x10000 / 64]; /* a bit each: see `note_simple` */
    int32_t follow[256];              /* what a byte behind a word gives */
    int has_letters, are_letters_simple; /* whether ASCII has been asked about; and is simple */
    /* the GIL */
    PyThreadState *released; /* NULL while this thread has the GIL */
    PyGILState_STATE gil;
    int helps;               /* this thread is none of Python's */
    PyObject **error;        /* where such a thread leaves an exception */
    Shared *stop;            /* tells a thread of a batch to end */
    size_t read;             /* bytes of texts since it looked for signals */
    /* the text that is read */
    const uint8_t *text_end;    /* also where a part of it is read */
    const uint8_t *looked;      /* up to here signals have been looked for */
    size_t walked, most_walked; /* characters, while terms are looked for: more are left to Python, in linear time */
    int is_composed;            /* what is read is a part in its composed form */
    int is_inside;              /* it is a part between terms, or between added tokens */
    size_t enough;              /* once there are so many ids, the rest of the text does not matter */
    /* buffers */
    int32_t *ids;
    size_t count, ids_room;
    uint8_t *word;
    size_t word_room;
    uint8_t part[WORD_AT_HAND + PADDING], text[TEXT_AT_HAND + PADDING];
};

Worker *worker_take(Kernel *kernel);
void worker_return(Worker *worker);
void pool_free(Kernel *kernel);

int python_enter(Worker *worker);
void python_leave(Worker *worker);
int checkpoint(Worker *worker, const uint8_t *at);
int look_for_signals(Worker *worker);
int ids_grow(Worker *worker, size_t more);
int take_room(Worker *worker, size_t bytes);
void give_room(Worker *worker, size_t bytes);

/* See to it that there is room for so many more ids. */
static inline int ids_need(Worker *worker, size_t more)
{
    return worker->count + more <= worker->ids_room ? 0 : ids_grow(worker, more);
}

int cache_begin(Worker *worker);
void cache_forget(Worker *worker);
void cache_free(Cache *cache);
int cache_put(Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count, Starts starts);
/* The entry of what bytes became, or NULL; it is good until the next checkpoint. READ_AT_ONCE bytes from the first one on
   must be there to be read. */
static inline const Entry *cache_get(const Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length)
{
    const Cache *cache = &worker->cache;
    uint64_t at;
    if (length > LONGEST_KEY)
        return NULL;
    Pair key = key_of(cache, kind, bytes, length);
    return cache_find(cache, key, hash_of_key(cache, key), bytes, length, &at);
}

/* Put the ids of an entry behind those that there are. */
static inline Status put_entry(Worker *worker, const Entry *entry)
{
    if (ids_need(worker, entry->count + IDS_IN_ENTRY))
        return FAILED;
    if (LIKELY(entry->count <= IDS_IN_ENTRY))
        memcpy(worker->ids + worker->count, entry->ids, sizeof entry->ids); /* the same each time is quick */
    else
        memcpy(worker->ids + worker->count, ids_of(entry), entry->count * sizeof *worker->ids);
    worker->count += entry->count;
    return OK;
}

/* ---- texts: see texts.c ------------------------------------------------------------------------------------------ */

/* A text, or what Python is asked about: a str, UTF-8, or both. Of UTF-8 alone it is to be checked. Without UTF-8 only
   Python can encode it. */
typedef struct {
    PyObject *object;
    const uint8_t *bytes;
    size_t size;
} Text;

/* A chunk between spaces as it is read. */
typedef struct {
    const uint8_t *at, *text_end;       /* where it is read, and up to where it may go on */
    const uint8_t *start, *part, *word; /* `part`: behind its last boundary; `word`: NULL between words */
    size_t count, part_count;           /* how many ids there were at `start` and at `part` */
    const uint8_t *before, *before_end; /* the last character that is not deleted; NULL at a boundary */
    int before_is_plain;     /* -1 where it has not been looked at */
    uint8_t combining_class; /* of that character */
    int8_t is_free;          /* of added tokens: 1, 0, or -1 where it has not been looked at */
    int8_t has_spaces;       /* of other kinds, perhaps, across which terms may be found */
    const uint8_t *stop;     /* where the window ends that begins with it; see terms.c */
    Starts starts;           /* behind the ids of a word that has just been worked out */
} Chunk;

int text_of(PyObject *object, Text *text);
Status encode_text(Worker *worker, Text text);
Status encode_steps(Worker *worker, const uint8_t *text, size_t size);
Status encode_part(Worker *worker, const uint8_t *part, size_t length);
Status ask_cached(Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length);
uint8_t *padded_copy(const uint8_t *bytes, size_t size, uint8_t *at_hand, size_t room);
int has_no_token(const Kernel *kernel, const uint8_t *start, const uint8_t *stop);

/* ---- terms ------------------------------------------------------------------------------------------------------- */

enum { EDGE = sizeof(uint32_t), ANY_EDGE = 0, BEHIND_BITS = 12, ANY_BEHIND = (1 << BEHIND_BITS) - 1 };
enum { ANY_PLACE = -1, MOST_STARTS = 2 * LONGEST_SHORT * MOST_TREES };

/* All letters in one case; other characters are not told apart either by this bit. */
#define ONE_CASE 0x2020202020202020u

/* The hash of the key of a word of ASCII, in any case, and of the EDGE bytes behind it and a space; ANY_EDGE in place of
   these where fewer are enough. */
static inline uint64_t edge_hash(Pair key, uint32_t behind)
{
    return mix((key.low | ONE_CASE) ^ (uint64_t)(behind | (uint32_t)ONE_CASE) * FACTOR, (key.high | ONE_CASE) ^ OTHER_FACTOR);
}

static inline uint64_t edge_bits(uint64_t hash) { return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63); }

/* One of as many bits as an entry has for the EDGE bytes behind a word: fewer than edges tell, but at hand. */
static inline uint32_t behind_bit(uint32_t behind)
{
    return 1u << (((behind | (uint32_t)ONE_CASE) * (uint32_t)(FACTOR >> 32) >> 16) * BEHIND_BITS >> 16);
}

/* Whether EDGE bytes are printable ASCII. */
static inline int are_printable(uint32_t bytes)
{
    return !(((bytes - 0x20202020u) | bytes | (bytes + 0x01010101u)) & 0x80808080u);
}

/* Whether no tree has an edge of a word of ASCII before these bytes: then no term begins with the word there. */
static inline int has_no_edge(const Kernel *kernel, Pair key, uint32_t behind)
{
    uint64_t hash = edge_hash(key, behind), bits = edge_bits(hash);
    return (kernel->edges[hash >> 32 & kernel->edges_mask] & bits) != bits;
}

/* Whether a term may begin in a word at such a place, which `find_starts` has put. */
static inline int may_start(const Kernel *kernel, const uint8_t *word, size_t length, int32_t place)
{
    uint32_t bytes;
    if (place == ANY_PLACE)
        return 1;
    memcpy(&bytes, word + length + 1, EDGE);
    return !are_printable(bytes) || !has_no_edge(kernel, short_key(KEY_WORD, word + place, length - (size_t)place), bytes);
}

int edges_fill(Kernel *kernel);
Starts find_starts(Worker *worker, const uint8_t *word, size_t length);
Status walk_starts(Worker *worker, const uint8_t *word, size_t length, const int32_t *starts, size_t count, const uint8_t **reach);
Status widen_window(Worker *worker, const uint8_t *from, const uint8_t *to, const uint8_t **stop, const uint8_t **reach);
Status put_window(Worker *worker, Chunk *chunk);
int may_go_on(Worker *worker, const uint8_t *start, const uint8_t *stop);

/* ---- batches, and what Python gets: see columns.c ---------------------------------------------------------------- */

PyObject *kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_spans(Kernel *kernel, PyObject *text);
PyObject *kernel_columns(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_flat(Kernel *kernel, PyObject *arguments);
PyObject *kernel_flat_between(Kernel *kernel, PyObject *arguments);

enum { INTS_KEPT = 1 << 17 };

#endif
