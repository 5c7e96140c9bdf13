/* Training: the most frequent pair of neighbours in words becomes one token, everywhere; then the next.

   In: words, spelled in tokens, and how often each occurs. A Python function is told of each pair, and says which token
   it becomes. What is done, in which order, is said in `merging.py`, the reference. A heap has the pairs that wait,
   each with the words in which it came up; behind the heap are those that come up now. Where memory fails, that is
   noted, and nothing more is written. */
#ifndef TRIETOK_KERNEL_MERGING_H
#define TRIETOK_KERNEL_MERGING_H

#include "_kernel_memory.h"

enum { END = 0x10ffff, FIRST_PAIRS = 1024 }; /* `END` is behind each word */

typedef struct {
    uint64_t pair; /* the left token, then the right one */
    int64_t count; /* when it was put in */
    uint32_t *words, size, serial;
} Waiting;

typedef struct {
    uint64_t key; /* the pair, plus one */
    int64_t count;
    size_t fresh; /* of a pair that comes up now: its place behind the heap, plus one */
} PairCount;

typedef struct {
    uint32_t **starts; /* of each word */
    const int64_t *word_counts;
    PairCount *pairs, nowhere; /* a hash table; what is written to without memory */
    Waiting *heap;
    size_t pairs_used, pairs_size, heap_used, heap_filled;
    int has_failed;
} Merging;

/* How often a pair occurs. The place is good until the next is asked for: a table that fills up is made anew, without
   the pairs that are gone. */
static PairCount *pair_count(Merging *merging, uint64_t pair)
{
    PairCount *pairs = merging->pairs;
    size_t size = merging->pairs_size, at = mixed(pair + 1, 0x9e3779b97f4a7c15u) & (size - 1), left = 0;
    while (pairs[at].key && pairs[at].key != pair + 1)
        at = (at + 1) & (size - 1);
    if (pairs[at].key || 3 * merging->pairs_used < 2 * size) {
        merging->pairs_used += !pairs[at].key;
        pairs[at].key = pair + 1;
        return &pairs[at];
    }
    for (size_t i = 0; i < size; i++)
        left += pairs[i].count || pairs[i].fresh;
    merging->pairs_size = 3 * left < size ? size : 2 * size;
    merging->pairs = new_zeroed(merging->pairs_size, sizeof *pairs);
    if (!merging->pairs) {
        merging->has_failed = 1;
        merging->pairs = pairs;
        merging->pairs_size = size;
        return &merging->nowhere;
    }
    merging->pairs_used = 0;
    for (size_t i = 0; i < size; i++)
        if (pairs[i].count || pairs[i].fresh)
            *pair_count(merging, pairs[i].key - 1) = pairs[i];
    give_back(pairs);
    return pair_count(merging, pair);
}

/* Room for one more item behind so many, of which there is room for a power of two. */
static void *with_room(Merging *merging, void *items, size_t used, size_t each)
{
    void *more = used & (used - 1) ? items : resized(items, (used ? 2 * used : 1) * each);
    merging->has_failed |= !more;
    return more ? more : items;
}

/* A pair comes up in a word, or is gone from it. Words come one after the other, and each is noted once. */
static void note(Merging *merging, uint64_t left, uint32_t right, uint32_t word, int is_new)
{
    PairCount *pair = pair_count(merging, left << 32 | right);
    pair->count += is_new ? merging->word_counts[word] : -merging->word_counts[word];
    if (!is_new || merging->has_failed)
        return;
    if (!pair->fresh) {
        merging->heap = with_room(merging, merging->heap, merging->heap_filled, sizeof *merging->heap);
        if (merging->has_failed)
            return;
        merging->heap[merging->heap_filled++] = (Waiting){.pair = left << 32 | right};
        pair->fresh = merging->heap_filled;
    }
    Waiting *fresh = &merging->heap[pair->fresh - 1];
    if (fresh->size && fresh->words[fresh->size - 1] == word)
        return;
    fresh->words = with_room(merging, fresh->words, fresh->size, sizeof *fresh->words);
    if (!merging->has_failed)
        fresh->words[fresh->size++] = word;
}

static int goes_first(const Waiting *one, const Waiting *other)
{
    if (one->count != other->count)
        return one->count > other->count;
    return one->pair != other->pair ? one->pair < other->pair : one->serial < other->serial;
}

/* Put what has come up into the heap, but for pairs that are gone again. Of two of one pair the older goes first. */
static void put_in(Merging *merging, uint32_t serial)
{
    for (size_t i = merging->heap_used; i < merging->heap_filled; i++) {
        Waiting *heap = merging->heap, fresh = heap[i];
        PairCount *pair = pair_count(merging, fresh.pair);
        pair->fresh = 0;
        fresh.count = pair->count;
        fresh.serial = serial;
        if (fresh.count <= 0) {
            give_back(fresh.words);
            continue;
        }
        size_t at = merging->heap_used++;
        for (; at && goes_first(&fresh, &heap[(at - 1) / 2]); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = fresh;
    }
    merging->heap_filled = merging->heap_used;
}

/* Put one in the place of the heap's first. */
static void put_first(Merging *merging, Waiting waiting)
{
    Waiting *heap = merging->heap;
    size_t at = 0, below;
    for (; (below = 2 * at + 1) < merging->heap_used; at = below) {
        below += below + 1 < merging->heap_used && goes_first(&heap[below + 1], &heap[below]);
        if (goes_first(&waiting, &heap[below]))
            break;
        heap[at] = heap[below];
    }
    heap[at] = waiting;
}

/* Take out the first that has the count it was put in with; 0 where there is none, or its count is below `least`. */
static int take_best(Merging *merging, Waiting *best, int64_t least)
{
    while (merging->heap_used) {
        *best = *merging->heap;
        best->count = pair_count(merging, best->pair)->count;
        int is_best = best->count == merging->heap->count;
        if (is_best && best->count < least)
            return 0;
        if (!is_best && best->count > 0) {
            put_first(merging, *best);
            continue;
        }
        merging->heap_filled = --merging->heap_used;
        put_first(merging, merging->heap[merging->heap_used]);
        if (is_best)
            return 1;
        give_back(best->words);
    }
    return 0;
}

/* Merge a pair in a word, from the left to the right. */
static void merge_in_word(Merging *merging, uint32_t word, const Waiting *best, uint32_t merged)
{
    uint32_t *from = merging->starts[word], *to = from, *start = from;
    uint32_t left = (uint32_t)(best->pair >> 32), right = (uint32_t)best->pair;
    while (*from != END) {
        if (*from != left || from[1] != right) {
            *to++ = *from++;
            continue;
        }
        from += 2;
        if (to > start) {
            note(merging, to[-1], merged, word, 1);
            note(merging, to[-1], left, word, 0);
        }
        if (*from != END) {
            note(merging, merged, *from, word, 1);
            note(merging, right, *from, word, 0);
        }
        *to++ = merged;
    }
    *to = END;
}

/* Count the pairs of words that lie one behind the other. */
static void count_pairs(Merging *merging, uint32_t *at, const uint32_t *end, size_t words)
{
    merging->starts = resized(NULL, (words + 1) * sizeof *merging->starts);
    merging->pairs = new_zeroed(merging->pairs_size = FIRST_PAIRS, sizeof *merging->pairs);
    merging->has_failed = !merging->starts || !merging->pairs;
    for (size_t word = 0; word < words && at < end && !merging->has_failed; word++) {
        merging->starts[word] = at;
        for (; *at != END; at++)
            if (at[1] != END)
                note(merging, at[0], at[1], (uint32_t)word, 1);
        at++;
    }
    put_in(merging, 0);
}

static PyObject *merge_pairs(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer words, counts;
    PyObject *name;
    Merging merging = {0};
    Waiting best = {0};
    Py_ssize_t known, most;
    long long least;
    if (!PyArg_ParseTuple(arguments, "w*y*nnLO", &words, &counts, &known, &most, &least, &name))
        return NULL;
    merging.word_counts = counts.buf;
    count_pairs(&merging, words.buf, (uint32_t *)words.buf + words.len / 4, (size_t)counts.len / 8);
    for (uint32_t serial = 1; known < most && !merging.has_failed && take_best(&merging, &best, least); serial++) {
        PyObject *token = PyObject_CallFunction(name, "KK", best.pair >> 32, best.pair & UINT32_MAX);
        unsigned long merged = token ? PyLong_AsUnsignedLong(token) : 0;
        Py_XDECREF(token);
        merging.has_failed |= PyErr_Occurred() != NULL;
        known += (Py_ssize_t)merged == known;
        for (uint32_t i = 0; i < best.size && !merging.has_failed; i++)
            merge_in_word(&merging, best.words[i], &best, (uint32_t)merged);
        put_in(&merging, serial);
        give_back(best.words);
    }
    for (size_t i = 0; i < merging.heap_filled; i++)
        give_back(merging.heap[i].words);
    give_back(merging.heap);
    give_back(merging.pairs);
    give_back(merging.starts);
    PyBuffer_Release(&words);
    PyBuffer_Release(&counts);
    if (merging.has_failed && !PyErr_Occurred())
        PyErr_NoMemory();
    return merging.has_failed ? NULL : Py_NewRef(Py_None);
}

#endif
