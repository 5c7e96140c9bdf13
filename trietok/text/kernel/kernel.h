/* The types and functions that the files of the kernel share.

   The kernel encodes texts exactly as `Pipeline` does in Python. It handles everything that depends on one character at
   a time. Each worker asks Python about the rest once, and caches the answer.

       module.c    the Python types; what is created from Python's objects is validated here
       columns.c   threads and batches; the lists, arrays and bytes that Python receives; the pool of workers
       texts.c     splits a text into chunks and words; finds added tokens of one word; asks Python
       terms.c     finds added tokens of several words
       words.c     cuts a new word into pieces of the vocabulary; fills the cache, which `cache_find` below reads

   One kernel belongs to one pipeline. Its vocabulary and its added tokens never change, and all threads read them.
   Everything else belongs to a worker: a cache, the known characters, and buffers. A thread uses one worker while it
   encodes, so caches need no lock; only a few counters are shared. Free workers are in a pool (last in, first out),
   which is only used with the GIL.

   A chunk is what lies between two spaces of a text. A term is an added token of several words, and a window is the
   chunks that terms touch. A code point is simple if it just stays in its word; it is alone if it is a word of its own;
   a character is certain if nothing around it changes what it becomes.

   Sizes and lengths are bytes of UTF-8, unless a comment says otherwise. Bytes are called padded if READ_AT_ONCE bytes
   can be read from their start. A text is padded if PADDING bytes can be read after it, and the first is a space. */
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

/* A number that several threads may change. */
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

/* Both halves of the product of two numbers, combined: every bit depends on all bits of both. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The index of the lowest or highest bit that is set. There must be one. */
static inline unsigned lowest_bit(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
static inline unsigned highest_bit(uint64_t bits) { return 63 - (unsigned)__builtin_clzll(bits); }

/* A number that several threads may change. */
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

/* Factors for hashing. The first is 2 to the 64th divided by the golden ratio, which spreads consecutive numbers
   (Knuth, The Art of Computer Programming, section 6.4). */
#define FACTOR 0x9e3779b97f4a7c15u
#define OTHER_FACTOR 0xe7037ed1a0b428dbu

/* ---- sizes and results ------------------------------------------------------------------------------------------- */

enum {
    READ_AT_ONCE = 16, /* short keys are read as 16 bytes and masked, without a loop or a branch */
    PADDING = 64,
    WORD_AT_HAND = 512,         /* size of buffers that avoid an allocation */
    TEXT_AT_HAND = 4096,        /* likewise */
    LONGEST_OUTPUT = 64,        /* of a normalized code point */
    LEAST_LIMIT = 1 << 18,      /* for the caches of a kernel */
    LONG_TEXT = 1 << 16,        /* longer texts are encoded without the GIL */
    CHECKPOINT_BYTES = 1 << 20, /* between two checks for signals */
    MOST_VOCABULARIES = 32,     /* of added tokens; with more, Python finds them */
    MOST_TREES = 32,
    NO_ID = -1
};

/* The result of encoding something, in this order: from TOKEN_IN_PART on, they mean `hand_over`. UNSURE: Python must
   encode it. WHOLE_TEXT: Python must encode the whole text. TERM_FOUND: a term reaches beyond the chunk, up to
   `Chunk.stop`. TOKEN_IN_PART, TOKEN_IN_CHUNK: there may be an added token, so Python must encode the part of the chunk
   around it, or the whole chunk. */
typedef enum { OK, FAILED, UNSURE, WHOLE_TEXT, TERM_FOUND, TOKEN_IN_PART, TOKEN_IN_CHUNK } Status;

/* Errors of functions that fill a vocabulary or a tree. */
enum { NO_MEMORY = -1, TOO_LARGE = -2, PYTHON_ERROR = -3 };

/* Like calloc, realloc and free. They return NULL without memory. A test can make them fail. */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *from, size_t size);
void xfree(void *memory);

/* ---- UTF-8 and bytes --------------------------------------------------------------------------------------------- */

/* The code point at `at`, in valid UTF-8. */
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

/* At most 16 padded bytes as two numbers. */
static inline Pair pair_of(const uint8_t *bytes, size_t length)
{
    static const uint8_t kept[2 * READ_AT_ONCE] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *mask = kept + READ_AT_ONCE - length; /* no branch, because word lengths are unpredictable */
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

enum { AT_START, INSIDE }; /* pieces that begin a word, and pieces that continue one, without their prefix */
enum { LONGEST_PIECE = 1024, MOST_LONG_LENGTHS = 64, MOST_PIECES = 1 << 26 };

/* A vocabulary token. The last byte of `high` holds the length plus one (so it is never 0) and one bit for INSIDE. The
   other bytes are the token itself, or, if it is long, its hash and an index into `Vocabulary.longs`. */
typedef struct {
    uint64_t low;
    uint32_t high;
    int32_t id;
} Piece;

typedef struct {
    Piece *pieces;               /* a hash table */
    uint64_t mask;               /* number of slots, a power of two, minus one */
    uint64_t *marks, marks_mask; /* one bit for each hash; if it is 0, there is no such piece */
    uint32_t *lengths; /* by the first four bytes: bit n if there may be a piece of n bytes, bit 31 for more */
    uint64_t lengths_mask;
    uint32_t short_lengths; /* bits 2 and 3: whether there are pieces of 2 and 3 bytes */
    Piece *added;           /* while the vocabulary is filled: the pieces in order */
    size_t count;
    uint8_t *longs; /* the length (two bytes) and the bytes of each long piece, aligned to READ_AT_ONCE */
    size_t longs_size, longs_capacity;
    uint16_t long_lengths[MOST_LONG_LENGTHS]; /* longest first */
    size_t long_count;
    uint64_t seed[2];
    int32_t unknown;
    uint64_t longest_word;   /* in code points; longer words are unknown */
    uint8_t is_first[256];   /* whether some piece of AT_START begins with this byte */
    int32_t of_byte[2][128]; /* ids of pieces of one byte */
} Vocabulary;

int vocabulary_begin(Vocabulary *vocabulary, size_t entries);
int vocabulary_add(Vocabulary *vocabulary, int place, const uint8_t *bytes, size_t length, int32_t id);
int vocabulary_finish(Vocabulary *vocabulary);
void vocabulary_free(Vocabulary *vocabulary);
int32_t longest_piece(const Vocabulary *vocabulary, int place, const uint8_t *rest, size_t left, size_t *length);
size_t ids_of_word(const Vocabulary *vocabulary, const uint8_t *word, size_t size, size_t code_points, int32_t *ids);

/* ---- the cache: see words.c -------------------------------------------------------------------------------------- */

enum {
    LONGEST_KEY = 255,
    LONGEST_SHORT = 15,
    IDS_IN_ENTRY = 3,
    MOST_IDS = 4 * LONGEST_KEY,
    FIRST_SEGMENT = 13,
    SEGMENTS = 20
};

/* The kinds of keys: a word, a chunk, two characters that may compose, a chunk and its spans, a character and its
   folded form, the form of a term. Keys of different kinds are never equal. */
typedef enum { KEY_WORD, KEY_CHUNK, KEY_PAIR, KEY_STEPS, KEY_FOLD, KEY_TERM, KEY_KINDS } KeyKind;

/* A key and its ids. After the entry follow the bytes of a long key, the ids if they do not fit into the entry, and the
   starts of terms (see `find_starts`), if they do not fit either. */
typedef struct {
    uint64_t low, high;   /* the key; 0 if the rest of the segment is unused */
    uint32_t count : 10;  /* number of ids */
    uint32_t starts : 10; /* number of int32 of its starts, two for each */
    uint32_t after : 12;  /* which bytes may follow if a term begins in this word; see `after_bit` */
    int32_t ids[IDS_IN_ENTRY];
} Entry;

typedef struct {
    uint32_t *slots; /* a hash table: 0, or the number of an entry (from 1) with bits of its hash above the mask */
    uint64_t mask;
    uint8_t *segments[SEGMENTS]; /* the entries; each is twice as large as the one before, so entries never move */
    uint64_t used;               /* in units of an entry */
    uint64_t counts[KEY_KINDS];
    uint64_t seed[2];
    int is_full; /* nothing more is added until the next checkpoint, which clears the cache */
} Cache;

/* Only short words have starts, so the longest entry is one with a long key and many ids. */
_Static_assert(
    sizeof(Entry) + LONGEST_KEY + 1 + MOST_IDS * sizeof(int32_t) < 1 << FIRST_SEGMENT, "an entry fits into a segment");

/* The last byte of `high` holds the kind and the length plus one. For a long key it holds IS_LONG; then `low` is a
   hash, and another byte of `high` holds the length. */
enum { KIND_SHIFT = 61, LENGTH_SHIFT = 56, LONG_LENGTH_SHIFT = 48, IS_LONG = 31 };

/* The key of at most LONGEST_SHORT padded bytes. */
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

/* Number of key bytes that follow an entry. */
static inline size_t long_length(const Entry *entry)
{
    return (entry->high >> LENGTH_SHIFT & 31) == IS_LONG ? entry->high >> LONG_LENGTH_SHIFT & 255 : 0;
}

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

/* Return the entry of a key, or NULL. `*at` becomes its slot, or the free slot for it. */
static inline Entry *cache_find(
    const Cache *cache, Pair key, uint64_t hash, const uint8_t *bytes, size_t length, uint64_t *at)
{
    for (*at = hash & cache->mask;; *at = (*at + 1) & cache->mask) {
        uint32_t place = cache->slots[*at];
        if (!place)
            return NULL;
        if ((place ^ (uint32_t)(hash >> 32)) & ~(uint32_t)cache->mask)
            continue; /* another hash */
        Entry *entry = entry_of(cache, place & cache->mask);
        if (entry->low == key.low && entry->high == key.high
            && (length <= LONGEST_SHORT || !memcmp(entry + 1, bytes, length)))
            return entry;
    }
}

/* `starts` and `after` of an `Entry`. */
typedef struct {
    uint32_t count, after;
} Starts;

/* ---- characters: see texts.c ------------------------------------------------------------------------------------- */

/* What a code point becomes: part of a word, nothing, a space, a word of its own, or something only Python knows.
   UNASKED is 0 because new pages are zeroed. */
enum { UNASKED, ORDINARY, DELETED, SPACE, ALONE, HAND_OVER, KINDS };

/* IS_KEY: an added token may contain it. IS_BOUNDARY: spaces are put around it. MAY_COMPOSE: with the character before
   it. IS_PLAIN: it is not composed itself, so asking about a pair is enough. MAY_PASS: an ASCII character of added
   tokens; the other fields are valid if the chunk contains no added token. */
enum { IS_KEY = 1, IS_BOUNDARY = 2, MAY_COMPOSE = 4, IS_PLAIN = 8, MAY_PASS = 16, FLAGS = 32 };

enum { PAGE = 512, PAGES = 0x110000 / PAGE, SHORT_OUTPUT = 4 };

typedef struct {
    uint8_t kind, combining_class, length, flags;
    union {
        int32_t id;                  /* if it is ALONE */
        uint8_t bytes[SHORT_OUTPUT]; /* the output, if it is short */
        uint32_t place;              /* the index of a longer output in `Worker.outputs` */
    };
} Char;

/* What an ASCII character after a word means, if it is not a word with an id. */
enum { CHUNK_ENDS = -1, WORD_ENDS = -2, LOOK_CLOSER = -3 };

/* ---- terms: see terms.c ------------------------------------------------------------------------------------------ */

enum { NODE_BITS = 26, SEVERAL = (1 << NODE_BITS) - 1, DELETED_FOLD = 0xff };

typedef struct TermNode TermNode;

typedef struct {
    TermNode *nodes;
    uint32_t count, room;
    uint32_t *tables, width;     /* tables of children; each has `width` nodes, one for each symbol */
    uint8_t symbols[256];        /* of bytes; 0 for bytes that no term contains */
    uint8_t is_in_head[256];     /* whether a byte occurs before the first space of some term */
    uint8_t ends_head[256];      /* whether it occurs right before a space */
    uint64_t *marks, marks_mask; /* one bit for each hash; if it is 0, no term has such a head */
    uint64_t *heads, heads_mask; /* by the same hash; see `head_place` */
    uint64_t *edges;             /* one for each term; see `edge_hash` */
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

/* The methods of `Questions` in choosing.py. */
enum { CLASSIFY, STAY_APART, COMPOSE, IDS, STEPS, FOLD, SETTLE, QUESTIONS };

typedef struct Worker Worker;

typedef struct {
    PyObject_HEAD
    PyObject *questions[QUESTIONS];
    PyObject *vocabulary_object, *patterns_object, *terms_object;
    const Vocabulary *vocabulary;
    const Vocabulary *patterns[MOST_VOCABULARIES]; /* the added tokens of one word, in lower case */
    size_t pattern_count, longest_pattern;         /* the length is 0 if all have less than 31 bytes */
    int has_patterns;                              /* whether they contain all added tokens of one word */
    const Tree *trees[MOST_TREES];
    size_t tree_count;
    uint64_t *edges, edges_mask;             /* of all trees; see `has_no_edge` */
    uint8_t folds[128];                      /* the folded form of each ASCII character */
    uint8_t is_in_head[256], ends_head[256]; /* of all trees */
    PyObject **ints;                         /* Python's ints by number, created on first use */
    uint64_t seed[2];
    Worker *pool;
    Shared worker_count; /* in the pool and in use */
    long long limit;     /* for the caches of all workers */
    Shared budget;       /* the part of the limit that no worker has taken */
    Shared times_full;   /* number of times that a cache was full */
    long long helped;    /* number of threads that have helped with batches */
    long long helping;   /* number of threads that are helping now */
    uint64_t calls;      /* number of times that a worker was taken */
    unsigned forgotten;  /* number of calls of `forget` */
    long long forks;     /* number of forks when the workers were counted; see `count_again` */
} Kernel;

/* What a thread needs to encode, and what it learns. */
struct Worker {
    Kernel *kernel;
    Worker *next; /* in the pool */
    uint64_t last_call;
    unsigned forgotten;
    long long forks;
    /* what it has learnt */
    long long bytes, char_bytes; /* taken from the kernel's budget; and the part of them for characters */
    int is_refused;              /* whether its share or the budget was too small */
    Cache cache;
    Char *pages[PAGES];
    uint8_t *outputs; /* of code points with long outputs */
    size_t outputs_used, outputs_capacity;
    uint64_t is_simple[0x10000 / 64];    /* one bit for each code point; see `note_simple` */
    int32_t follow[256];                 /* the meaning of a byte after a word: an id, or CHUNK_ENDS etc. */
    int has_letters, are_letters_simple; /* whether it knows the ASCII letters and digits; whether they are simple */
    /* the GIL */
    PyThreadState *released; /* NULL while the thread holds the GIL */
    int helps;               /* whether it belongs to a helper thread */
    PyObject **error;        /* where a helper thread stores an exception */
    Shared *stop;            /* tells the threads of a batch to stop */
    size_t read;             /* bytes of texts of a batch since the last check for signals */
    /* the current text */
    const uint8_t *text_end;    /* the end of the whole text, even while a part of it is encoded */
    const uint8_t *checked;     /* the place of the last check for signals */
    size_t walked, most_walked; /* steps of walks; after too many, Python encodes the text, in linear time */
    int is_composed;            /* whether a composed form is encoded */
    int is_inside;              /* whether a part between terms or added tokens is encoded */
    size_t enough;              /* number of ids after which the rest of the text does not matter */
    /* buffers */
    int32_t *ids;
    size_t count, ids_capacity;
    uint8_t *word;
    size_t word_capacity;
    uint8_t part[WORD_AT_HAND + PADDING], text[TEXT_AT_HAND + PADDING];
};

void pool_free(Kernel *kernel, uint64_t since);

void python_enter(Worker *worker);
void python_leave(Worker *worker);
int checkpoint(Worker *worker, const uint8_t *at);
int grow_ids(Worker *worker, size_t more);
int take_budget(Worker *worker, size_t bytes);
void return_budget(Worker *worker, size_t bytes);

/* Make sure that `more` ids fit. -1 without memory. */
static inline int reserve_ids(Worker *worker, size_t more)
{
    return worker->count + more <= worker->ids_capacity ? 0 : grow_ids(worker, more);
}

int cache_begin(Worker *worker);
void cache_forget(Worker *worker);
void cache_free(Cache *cache);
int cache_put(
    Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count, Starts starts);

/* Look up padded bytes. Return their entry, or NULL. It is valid until the next checkpoint. */
static inline const Entry *cache_get(const Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length)
{
    const Cache *cache = &worker->cache;
    uint64_t at;
    if (length > LONGEST_KEY)
        return NULL;
    Pair key = key_of(cache, kind, bytes, length);
    return cache_find(cache, key, hash_of_key(cache, key), bytes, length, &at);
}

/* Append the ids of an entry. */
static inline Status put_entry(Worker *worker, const Entry *entry)
{
    if (reserve_ids(worker, entry->count + IDS_IN_ENTRY))
        return FAILED;
    if (LIKELY(entry->count <= IDS_IN_ENTRY))
        memcpy(worker->ids + worker->count, entry->ids, sizeof entry->ids); /* a constant size is fast */
    else
        memcpy(worker->ids + worker->count, ids_of(entry), entry->count * sizeof *worker->ids);
    worker->count += entry->count;
    return OK;
}

/* ---- texts: see texts.c ------------------------------------------------------------------------------------------ */

/* A text as a str, as UTF-8, or both. Only Python can encode a str without UTF-8. UTF-8 without a str must be validated
   first. */
typedef struct {
    PyObject *object;
    const uint8_t *bytes;
    size_t size;
} Text;

/* The state of reading one chunk. */
typedef struct {
    const uint8_t *at, *text_end;       /* the current position; the end of the text */
    const uint8_t *start, *part, *word; /* where the chunk, its current part and its current word (or NULL) begin */
    size_t count, part_count;           /* number of ids before `start` and before `part` */
    const uint8_t *before, *before_end; /* the last character that is not deleted; NULL at a boundary */
    int before_is_plain;                /* -1 if unknown */
    uint8_t combining_class;            /* of that character */
    int8_t is_free;                     /* whether the chunk contains no added token; -1 if unknown */
    int8_t has_spaces;                  /* whether it may contain other whitespace, which terms may contain */
    const uint8_t *stop;                /* the end of the window that begins here; see terms.c */
    Starts starts;                      /* of the word that was looked up last, if it was new */
} Chunk;

int text_of(PyObject *object, Text *text);
Status encode_text(Worker *worker, Text text);
Status encode_steps(Worker *worker, const uint8_t *text, size_t size);
Status encode_part(Worker *worker, const uint8_t *part, size_t length);
Status settle_ids(Worker *worker, Status status, const uint8_t *bytes, size_t length, size_t from);
Status ask_cached(Worker *worker, KeyKind kind, const uint8_t *bytes, size_t length);
uint8_t *padded_copy(const uint8_t *bytes, size_t size, uint8_t *at_hand, size_t room);
int has_no_token(const Kernel *kernel, const uint8_t *start, const uint8_t *stop);

/* ---- terms ------------------------------------------------------------------------------------------------------- */

enum { EDGE = sizeof(uint32_t), ANY_EDGE = 0, AFTER_BITS = 12, ANY_AFTER = (1 << AFTER_BITS) - 1 };
enum { ANY_PLACE = -1, MOST_STARTS = 2 * LONGEST_SHORT * MOST_TREES };

/* Removes the case of ASCII letters. Some other characters become equal too, which only weakens a filter. */
#define ONE_CASE 0x2020202020202020u

/* Hash the key of an ASCII word and the EDGE bytes after it and a space, without case. A term with fewer bytes after
   its first space has ANY_EDGE instead of these bytes. */
static inline uint64_t edge_hash(Pair key, uint32_t after)
{
    return mix(
        (key.low | ONE_CASE) ^ (uint64_t)(after | (uint32_t)ONE_CASE) * FACTOR, (key.high | ONE_CASE) ^ OTHER_FACTOR);
}

static inline uint64_t edge_bits(uint64_t hash) { return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63); }

/* One of AFTER_BITS bits for the EDGE bytes after a word. It says less than the edges, but it is in the entry. */
static inline uint32_t after_bit(uint32_t after)
{
    return 1u << (((after | (uint32_t)ONE_CASE) * (uint32_t)(FACTOR >> 32) >> 16) * AFTER_BITS >> 16);
}

/* Whether all EDGE bytes are printable ASCII. */
static inline int are_printable(uint32_t bytes)
{
    return !(((bytes - 0x20202020u) | bytes | (bytes + 0x01010101u)) & 0x80808080u);
}

/* Whether no tree has this edge. Then no term begins with this word here. */
static inline int has_no_edge(const Kernel *kernel, Pair key, uint32_t after)
{
    uint64_t hash = edge_hash(key, after), bits = edge_bits(hash);
    return (kernel->edges[hash >> 32 & kernel->edges_mask] & bits) != bits;
}

/* Whether a term may begin at a place in a word, which comes from `find_starts`. */
static inline int may_start(const Kernel *kernel, const uint8_t *word, size_t length, int32_t place)
{
    uint32_t bytes;
    if (place == ANY_PLACE)
        return 1;
    memcpy(&bytes, word + length + 1, EDGE);
    return !are_printable(bytes)
           || !has_no_edge(kernel, short_key(KEY_WORD, word + place, length - (size_t)place), bytes);
}

int edges_fill(Kernel *kernel);
Starts find_starts(Worker *worker, const uint8_t *word, size_t length);
Status walk_starts(
    Worker *worker, const uint8_t *word, size_t length, const int32_t *starts, size_t count, const uint8_t **reach);
Status widen_window(
    Worker *worker, const uint8_t *from, const uint8_t *to, const uint8_t **stop, const uint8_t **reach);
Status put_window(Worker *worker, Chunk *chunk);
int may_go_on(Worker *worker, const uint8_t *start, const uint8_t *stop);

/* ---- batches, and what Python gets: see columns.c ---------------------------------------------------------------- */

PyObject *note_fork(PyObject *module, PyObject *ignored);
PyObject *kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_spans(Kernel *kernel, PyObject *text);
PyObject *kernel_columns(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_flat(Kernel *kernel, PyObject *arguments);
PyObject *kernel_flat_between(Kernel *kernel, PyObject *arguments);

enum { INTS_KEPT = 1 << 17 };

#endif
