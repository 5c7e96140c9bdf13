/* What a call does with a chunk between spaces, word by word; and what it hands over to Python.

   In: UTF-8. Out: ids, in the call's own buffer. See `_kernel.c` for what the kernel is. */
#ifndef TRIETOK_KERNEL_CHUNKS_H
#define TRIETOK_KERNEL_CHUNKS_H

#include "_kernel_characters.h"

/* What comes of a text or a part of it. FOR_PLAIN: the whole text has to go Python's plain way. UNCERTAIN: what is
   composed already cannot be told character by character either. TERM_STANDS: from the chunk on, up to a space, the
   text is to be read at once. TOKEN_...: an added token may stand in a word, so Python has to have the part of the
   chunk around it, or all of the chunk. */
typedef enum { DONE, FAILURE, FOR_PLAIN, UNCERTAIN, TERM_STANDS, TOKEN_IN_PART, TOKEN_IN_CHUNK } Outcome;

/* The UTF-8 of a str; NULL without an exception for one that has none, or that is of a subclass, which may have
   methods of its own; NULL with an exception for an error. */
static const uint8_t *utf8_of(PyObject *text, size_t *size)
{
    Py_ssize_t length;
    if (!Py_IS_TYPE(text, &PyUnicode_Type))
        return NULL;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (!bytes) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Clear();
        return NULL;
    }
    *size = (size_t)length;
    return (const uint8_t *)bytes;
}

/* A text: its UTF-8, which is to be checked where there is no str. `bytes` is NULL where Python's plain way has to
   encode it. */
typedef struct {
    PyObject *text; /* NULL where there are bytes only */
    const uint8_t *bytes;
    size_t size;
} Item;

/* ---- asking Python ----------------------------------------------------------------------------------------------- */

/* What a number that Python gives may be. */
typedef struct {
    int32_t least, most;
} Bounds;

static const Bounds ANY_ID = {INT32_MIN, INT32_MAX}, A_BYTE = {0, UINT8_MAX};

static Outcome take_numbers(Call *call, PyObject *numbers, Bounds bounds)
{
    Py_ssize_t count = numbers ? PySequence_Size(numbers) : -1;
    if (count < 0 || need(call, (size_t)count))
        return FAILURE;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(numbers, i);
        long long number = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return FAILURE;
        if (number < bounds.least || number > bounds.most) {
            PyErr_Format(PyExc_OverflowError, "the number %lld is not from %d to %d", number, (int)bounds.least,
                (int)bounds.most);
            return FAILURE;
        }
        call->ids[call->count++] = (int32_t)number;
    }
    return DONE;
}

/* What a Python function makes of a text; with the GIL. A new reference, NULL for an error. */
static PyObject *answer_of(PyObject *function, Item item)
{
    PyObject *text = item.text ? Py_NewRef(item.text)
                               : PyUnicode_DecodeUTF8((const char *)item.bytes, (Py_ssize_t)item.size, NULL);
    PyObject *answer = text ? PyObject_CallFunctionObjArgs(function, text, NULL) : NULL;
    Py_XDECREF(text);
    return answer;
}

/* What a Python function makes of a text: numbers. */
static Outcome ask_for_numbers(Call *call, PyObject *function, Item item, Bounds bounds)
{
    if (enter_python(call))
        return FAILURE;
    PyObject *numbers = answer_of(function, item);
    Outcome outcome = take_numbers(call, numbers, bounds);
    Py_XDECREF(numbers);
    leave_python(call);
    return outcome;
}

/* Put the numbers that a Python function gives for bytes, or has given. */
static Outcome put_asked(
    Call *call, KeyKind kind, PyObject *function, const uint8_t *bytes, size_t length, const uint8_t *text_end)
{
    Known known = recall(&call->kernel->memory, kind, bytes, length, text_end);
    if (known.ids)
        return put_known(call, known) ? FAILURE : DONE;
    size_t count = call->count;
    /* What a character is folded to is bytes, which tables of 256 are indexed with. */
    Outcome outcome = ask_for_numbers(call, function, (Item){NULL, bytes, length}, kind == FOLD ? A_BYTE : ANY_ID);
    if (outcome == DONE && remember(call, kind, bytes, length, call->ids + count, call->count - count))
        return FAILURE;
    return outcome;
}

/* Whether what may compose stays as it is behind a character; `pair` is the bytes of both. -1 for an error. */
static int stays_apart(Call *call, const uint8_t *pair, size_t length)
{
    Known known = recall(&call->kernel->memory, PAIR, pair, length, pair + length);
    if (known.ids)
        return known.ids[0];
    if (enter_python(call))
        return -1;
    PyObject *answer = answer_of(call->kernel->stay_apart, (Item){NULL, pair, length});
    int32_t result = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    leave_python(call);
    if (result < 0 || remember(call, PAIR, pair, length, &result, 1))
        return -1;
    return result;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* A chunk between spaces as it is read. It lies where PADDING bytes may be read behind the text. */
typedef struct {
    const uint8_t *at, *text_end;       /* where it is read, and up to where it may go on */
    const uint8_t *start, *part, *word; /* `part`: behind its last boundary; `word`: NULL between words */
    size_t count, part_count;           /* how many ids there were at `start` and at `part` */
    const uint8_t *before, *before_end; /* the last character that is not deleted; NULL at a boundary */
    int before_is_plain;     /* -1 where it has not been looked at */
    uint8_t combining_class; /* of that character */
    int8_t is_free;          /* of added tokens: 1, 0, or -1 where it has not been looked at */
    int8_t has_spaces;       /* of other kinds, perhaps, which terms may have been looked for across */
    const uint8_t *stop;     /* where the window ends, if a term stands from this chunk on */
    Starts starts; /* which are behind the ids of a word that has just been worked out */
} Chunk;

static inline Chunk new_chunk(const Call *call, const uint8_t *at, const uint8_t *text_end)
{
    return (Chunk){.at = at, .text_end = text_end, .start = at, .part = at, .count = call->count,
        .part_count = call->count, .is_free = -1};
}

static const uint8_t *chunk_end(const uint8_t *at, const uint8_t *text_end)
{
    const uint8_t *space = memchr(at, ' ', (size_t)(text_end - at));
    return space ? space : text_end;
}

/* The length of the longest pattern that begins some bytes in lower case; 0 for none. READ_AT_ONCE bytes behind them must
   be there to be read. */
static inline size_t longest_pattern_at(const Kernel *kernel, const uint8_t *lowered, size_t length)
{
    size_t longest = 0, found;
    for (size_t set = 0; set < kernel->pattern_count; set++)
        if (kernel->pattern_sets[set]->begins[*lowered]
            && longest_piece(kernel->pattern_sets[set], FRONT, lowered, length, &found) != NO_ID && found > longest)
            longest = found;
    return longest;
}

/* Make letters of ASCII small. Whether there is nothing but printable ASCII. */
static inline int lower_ascii(uint8_t *bytes, size_t length)
{
    int is_printable = 1;
    for (size_t i = 0; i < length; i++) {
        is_printable &= bytes[i] >= 0x20 && bytes[i] < 0x7f;
        bytes[i] |= (uint8_t)((bytes[i] >= 'A' && bytes[i] <= 'Z') << 5);
    }
    return is_printable;
}

/* Whether no pattern begins in the first `most` of some bytes of printable ASCII, in any case. There are at most
   BYTES_AT_HAND. */
static int begins_no_token(const Kernel *kernel, const uint8_t *start, size_t length, size_t most)
{
    uint8_t lowered[BYTES_AT_HAND + READ_AT_ONCE];
    memcpy(lowered, start, length);
    memset(lowered + length, 0, READ_AT_ONCE);
    if (!lower_ascii(lowered, length))
        return 0;
    for (size_t i = 0; i < most; i++)
        if (longest_pattern_at(kernel, lowered + i, length - i))
            return 0;
    return 1;
}

/* Whether it is certain that no added token of one word stands in a chunk, or a window: it is of printable ASCII, which
   no stage changes but for its case, and has none of the patterns in any case. A long one is read in steps, each of
   which looks ahead as far as patterns reach. */
static int has_no_token(const Kernel *kernel, const uint8_t *start, const uint8_t *stop)
{
    enum { STEP = BYTES_AT_HAND / 2 };
    size_t length;
    if (!kernel->has_patterns)
        return 0;
    for (; (length = (size_t)(stop - start)) > BYTES_AT_HAND; start += STEP)
        if (kernel->longest_pattern > STEP || !begins_no_token(kernel, start, BYTES_AT_HAND, STEP))
            return 0;
    return begins_no_token(kernel, start, length, length);
}

/* Whether the chunk that is read is free of added tokens. */
static int is_free(const Call *call, Chunk *chunk)
{
    if (chunk->is_free < 0)
        chunk->is_free = (int8_t)has_no_token(call->kernel, chunk->start, chunk_end(chunk->at, chunk->text_end));
    return chunk->is_free;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

enum { MOST_STARTS = 2 * LONGEST_SHORT * MOST_TREES, ANY_PLACE = -1 };

/* Whether no tree has an edge of a word of ASCII before these bytes: then no term begins with the word there. */
static inline int has_no_edge(const Kernel *kernel, Pair key, uint32_t behind)
{
    uint64_t hash = edge_hash(key, behind), bits = edge_bits(hash);
    return (kernel->edges[hash >> 32 & kernel->edges_mask] & bits) != bits;
}

/* Put where terms go on behind a word and a space, if `pass_words` may ask for it: of each whose first part the word ends
   with, the node, and where in the word that begins; ANY_PLACE where the edges do not tell of it. There is room. */
static Starts find_starts(Call *call, const uint8_t *bytes, size_t length)
{
    const Kernel *kernel = call->kernel;
    Starts starts = {0, 0};
    if (length > LONGEST_SHORT || !kernel->tree_count || !is_alphanumeric(*bytes))
        return starts;
    uint8_t padded[2 * READ_AT_ONCE] = {0};
    memcpy(padded, bytes, length);
    for (size_t number = 0; number < kernel->tree_count; number++) {
        const Tree *tree = kernel->trees[number];
        uint64_t hash = 0;
        for (size_t from = length; from-- && bytes[from] < 0x80;) {
            hash = hash_in_front(hash, kernel->folds[bytes[from]]);
            uint64_t head = may_be_head(tree, hash) ? *head_place(tree, hash) : 0;
            uint32_t node = node_of_head(head);
            if (node == SEVERAL && (node = node_behind(tree, kernel->folds, bytes + from, length - from)))
                node = child_of(tree, node, ' ');
            if (!node)
                continue;
            int is_told = has_no_edge(kernel, word_key(padded + from, length - from), ANY_EDGE);
            call->ids[call->count++] = (int32_t)(number << NODE_BITS | node);
            call->ids[call->count++] = is_told ? (int32_t)from : ANY_PLACE;
            starts.behind |= is_told ? behind_head(head) : ANY_BEHIND;
            starts.count += 2;
        }
    }
    return starts;
}

/* The ids of a new word all of whose code points stay in it, or are deleted. */
static Outcome work_out_word(Call *call, Chunk *chunk, const uint8_t *bytes, size_t length)
{
    const uint8_t *stop = bytes + length, *next;
    size_t size = 0, code_points = 0, count = call->count;
    uint8_t flags = 0;
    for (const uint8_t *at = bytes; at < stop; at = next) {
        Char known = char_at(call, at, &next);
        if (known.kind == UNASKED)
            return FAILURE;
        flags |= known.flags;
        if (code_points > call->pieces->longest_word)
            continue; /* it becomes unknown, whatever follows */
        if (need_word(call, size, known.length + READ_AT_ONCE))
            return FAILURE;
        uint8_t *word = call->word + size;
        if (known.length <= SHORT_OUTPUT)
            memcpy(word, known.bytes, SHORT_OUTPUT); /* the same each time is quick */
        else
            memcpy(word, output_of(call->kernel, &known), known.length);
        size += known.length;
        if (known.length == 1)
            code_points++;
        else
            for (size_t i = 0; i < known.length; i++)
                code_points += (word[i] & 0xc0) != 0x80;
    }
    if (flags & MAY_PASS && !is_free(call, chunk))
        return flags & IS_KEY ? TOKEN_IN_CHUNK : TOKEN_IN_PART;
    if (need(call, size + 1 + MOST_STARTS))
        return FAILURE;
    if (size)
        call->count += ids_of_word(call->pieces, call->word, size, code_points, call->ids + call->count);
    chunk->starts = find_starts(call, bytes, length);
    call->count -= chunk->starts.count;
    return remember_starts(call, WORD, bytes, length, call->ids + count, call->count - count, chunk->starts) ? FAILURE : DONE;
}

static inline Outcome end_word(Call *call, Chunk *chunk)
{
    if (!chunk->word)
        return DONE;
    size_t length = (size_t)(chunk->at - chunk->word);
    Known known = recall(&call->kernel->memory, WORD, chunk->word, length, chunk->at + READ_AT_ONCE);
    Outcome outcome = !known.ids               ? work_out_word(call, chunk, chunk->word, length)
                      : put_known(call, known) ? FAILURE
                                               : DONE;
    if (outcome == DONE)
        chunk->word = NULL;
    return outcome;
}

/* Between two words: let go of what is retired, and look for signals after each so many bytes. */
static inline int rest(Call *call, const uint8_t *at)
{
    if (call->is_in_window)
        return 0; /* who reads the text around it holds words that were read ahead */
    let_go(call);
    if (call->is_composed || at - call->looked <= BYTES_BETWEEN_LOOKS)
        return 0;
    call->looked = at;
    return look_for_signals(call);
}

/* ---- parts of chunks --------------------------------------------------------------------------------------------- */

/* Where a part of a chunk ends, at a character that is set between spaces or is one; `*has_key` tells that an added
   token may stand around it. NULL for an error. */
static const uint8_t *part_end(Call *call, const uint8_t *at, const uint8_t *text_end, int *has_key)
{
    const uint8_t *next;
    for (; at < text_end && *at != ' '; at = next) {
        Char known = char_at(call, at, &next);
        if (known.kind == UNASKED)
            return NULL;
        *has_key |= known.flags & IS_KEY;
        if (*has_key || known.kind == SPACE || (known.kind == ALONE && known.flags & IS_BOUNDARY))
            break;
    }
    return at;
}

/* Whether a character stays as it is behind what is before it in the chunk: composition passes it by. Order of marks
   and composition are those of Unicode Standard Annex 15. 1, 0 where that is not certain, -1 for an error. */
static inline int stays(Call *call, Chunk *chunk, Char known, const uint8_t *next)
{
    if (call->is_composed)
        return 1; /* to compose it once more changes nothing */
    uint8_t own = known.combining_class, last = chunk->combining_class;
    if (own && own < last)
        return 0; /* the marks change places */
    if (!(known.flags & MAY_COMPOSE) || !chunk->before)
        return 1;
    if (last)
        return own == 0 || own == last; /* a mark between keeps it from what it might compose with */
    if (chunk->before_is_plain < 0) {
        const uint8_t *behind;
        chunk->before_is_plain = char_at(call, chunk->before, &behind).flags & IS_PLAIN;
    }
    if (!chunk->before_is_plain || chunk->before_end != chunk->at)
        return 0;
    return stays_apart(call, chunk->before, (size_t)(next - chunk->before));
}

static inline void set_boundary(Call *call, Chunk *chunk, const uint8_t *at)
{
    chunk->part = at;
    chunk->part_count = call->count;
    chunk->before = NULL;
    chunk->combining_class = 0;
}

static inline void pass(Chunk *chunk, Char known, const uint8_t *next)
{
    chunk->before = chunk->at;
    chunk->before_end = next;
    chunk->before_is_plain = known.flags & IS_PLAIN;
    chunk->combining_class = known.combining_class;
}

/* Of 16 bytes, a bit for each that is a letter or digit of ASCII. */
static inline uint32_t alphanumeric_bits(const uint8_t *at)
{
#ifdef TRIETOK_SSE2
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(32));
    /* Shifted so that the first of them is the least of all bytes with a sign, they are less than their number. */
    __m128i letters = _mm_cmplt_epi8(_mm_sub_epi8(small, _mm_set1_epi8('a' - 128)), _mm_set1_epi8(26 - 128));
    __m128i digits = _mm_cmplt_epi8(_mm_sub_epi8(bytes, _mm_set1_epi8('0' - 128)), _mm_set1_epi8(10 - 128));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(letters, digits));
#else
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (uint32_t)is_alphanumeric(at[i]) << i;
    return bits;
#endif
}

/* How many of 16 bytes are letters and digits of ASCII, up to the first that is none. */
static inline size_t alphanumerics_at(const uint8_t *at) { return lowest_bit(~(uint64_t)alphanumeric_bits(at)); }

/* Of 16 bytes, a bit for each that is a space. */
static inline uint32_t space_bits(const uint8_t *at)
{
#ifdef TRIETOK_SSE2
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')));
#else
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (uint32_t)(at[i] == ' ') << i;
    return bits;
#endif
}

/* Pass simple characters; the space behind the text is none. */
static inline void pass_simple(const Kernel *kernel, Chunk *chunk)
{
    const uint8_t *run = chunk->at, *at = run, *next;
    int are_simple = atomic_load_explicit(&((Kernel *)kernel)->letters, memory_order_relaxed) == ARE_SIMPLE;
    for (size_t length;; at += length) {
        if (are_simple && *at < 0x80)
            length = alphanumerics_at(at);
        else
            length = *at < 0xf0 && is_simple(kernel, code_point_at(at, &next)) ? (size_t)(next - at) : 0;
        if (!length)
            break;
    }
    if (at == run)
        return;
    chunk->at = chunk->before_end = at;
    if (!chunk->word)
        chunk->word = run;
    while ((*--at & 0xc0) == 0x80)
        continue;
    chunk->before = at;
    chunk->before_is_plain = -1;
    chunk->combining_class = 0;
}

/* The place of a Chinese character in the vocabulary's table; at least `chinese_count` for other characters. */
static inline uint32_t chinese_at(const Kernel *kernel, const uint8_t *at)
{
    const uint8_t *next;
    return (*at & 0xf0) == 0xe0 ? code_point_at(at, &next) - kernel->alone_first : UINT32_MAX;
}

/* Put the ids of a run of Chinese characters; each is a word, and nothing reaches across it. */
static inline Outcome pass_chinese(Call *call, Chunk *chunk)
{
    const Kernel *kernel = call->kernel;
    const int32_t *ids = call->pieces->chinese + (kernel->alone_first - FIRST_CHINESE);
    for (uint32_t place; (place = chinese_at(kernel, chunk->at)) < kernel->chinese_count; chunk->at += 3) {
        if (need(call, 1))
            return FAILURE;
        call->ids[call->count++] = ids[place];
    }
    set_boundary(call, chunk, chunk->at);
    return rest(call, chunk->at) ? FAILURE : DONE;
}

static Outcome encode_chunk(Call *call, Chunk *chunk);

/* A copy of bytes with a space and more bytes behind it: at hand if there is room, else in memory to be given back. */
static inline uint8_t *padded(const uint8_t *bytes, size_t size, uint8_t *at_hand, size_t room)
{
    uint8_t *copy = size <= room ? at_hand : resized(NULL, size + PADDING);
    if (copy) {
        memcpy(copy, bytes, size);
        memset(copy + size, ' ', PADDING);
    }
    return copy;
}

/* The ids of a part in its composed form, which Python gives, if that can be told character by character. */
static Outcome encode_composed(Call *call, const uint8_t *part, size_t length)
{
    size_t count = call->count, size = 0;
    if (enter_python(call))
        return FAILURE;
    PyObject *composed = answer_of(call->kernel->compose, (Item){NULL, part, length});
    const uint8_t *bytes = composed && composed != Py_None ? utf8_of(composed, &size) : NULL;
    uint8_t *copy = bytes ? padded(bytes, size, call->part_at_hand, BYTES_AT_HAND) : NULL;
    Outcome outcome = composed && !PyErr_Occurred() && !bytes == !copy ? UNCERTAIN : FAILURE;
    Py_XDECREF(composed);
    leave_python(call);
    if (copy) {
        Chunk chunk = new_chunk(call, copy, copy + size);
        call->is_composed = 1;
        outcome = encode_chunk(call, &chunk);
        call->is_composed = 0;
        if (outcome == DONE && chunk.at != copy + size)
            outcome = UNCERTAIN; /* a space has come about */
        if (copy != call->part_at_hand)
            give_back(copy);
    }
    if (outcome == DONE && remember(call, CHUNK, part, length, call->ids + count, call->count - count))
        outcome = FAILURE;
    if (outcome == UNCERTAIN)
        call->count = count;
    return outcome;
}

/* The ids of a part of a chunk in which no added token stands. */
static Outcome hand_over_part(Call *call, const uint8_t *part, size_t length, const uint8_t *text_end)
{
    if (!recall(&call->kernel->memory, CHUNK, part, length, text_end).ids) {
        Outcome outcome = encode_composed(call, part, length);
        if (outcome != UNCERTAIN)
            return outcome;
    }
    return put_asked(call, CHUNK, call->kernel->hand_over, part, length, text_end);
}

/* ---- added tokens of one word ------------------------------------------------------------------------------------- */

static Outcome encode_padded(Call *call, const uint8_t *text, size_t size, const uint8_t **behind);

/* Put the ids of a part between added tokens, in which none stands. */
static Outcome put_part(Call *call, const uint8_t *part, size_t length)
{
    uint8_t at_hand[LONGEST_KEY + PADDING], *copy = at_hand;
    const uint8_t *looked = call->looked, *behind;
    size_t enough = call->enough;
    int was_in_window = call->is_in_window;
    if (!length)
        return DONE;
    if (length > BYTES_BETWEEN_LOOKS)
        return UNCERTAIN; /* it is read without a look for signals */
    copy = padded(part, length, at_hand, LONGEST_KEY);
    if (!copy)
        return FAILURE;
    call->is_in_window = 1;
    call->enough = SIZE_MAX; /* what is remembered of the whole needs all */
    Outcome outcome = encode_padded(call, copy, length, &behind);
    call->enough = enough;
    call->is_in_window = was_in_window;
    call->looked = looked;
    if (copy != at_hand)
        give_back(copy);
    return outcome;
}

/* Put the ids of a copy of a chunk or a part of it, in lower case, between patterns and of these. UNCERTAIN where one
   begins within another one, or is no token that stands wherever its own bytes do: where no two meet, one is found
   whatever is around it. */
static Outcome put_tokens(Call *call, const uint8_t *from, size_t length, const uint8_t *lowered)
{
    const Kernel *kernel = call->kernel;
    size_t part = 0, found;
    for (size_t at = 0; at < length; at++) {
        if (!(found = longest_pattern_at(kernel, lowered + at, length - at)))
            continue;
        for (size_t i = at + 1; i < at + found; i++)
            if (longest_pattern_at(kernel, lowered + i, length - i))
                return UNCERTAIN;
        Outcome outcome = put_part(call, from + part, at - part);
        size_t count = call->count;
        if (outcome == DONE)
            outcome = put_asked(call, TERM, kernel->settle, from + at, found, from + length);
        if (outcome != DONE || call->count != count + 1)
            return outcome != DONE ? outcome : UNCERTAIN;
        if (rest(call, from + at))
            return FAILURE;
        part = at + found;
        at = part - 1;
    }
    return part ? put_part(call, from + part, length - part) : UNCERTAIN;
}

/* Put the ids of a chunk, or of a part that Python would have, if it is printable ASCII with added tokens in it that
   their bytes tell; else UNCERTAIN. */
static Outcome settle_tokens(Call *call, const uint8_t *from, size_t length, const uint8_t *text_end)
{
    uint8_t at_hand[BYTES_AT_HAND + PADDING], *lowered;
    size_t count = call->count;
    if (!call->kernel->has_patterns || recall(&call->kernel->memory, CHUNK, from, length, text_end).ids)
        return UNCERTAIN;
    lowered = padded(from, length, at_hand, BYTES_AT_HAND);
    if (!lowered)
        return FAILURE;
    Outcome outcome = lower_ascii(lowered, length) ? put_tokens(call, from, length, lowered) : UNCERTAIN;
    if (lowered != at_hand)
        give_back(lowered);
    if (outcome == DONE && remember(call, CHUNK, from, length, call->ids + count, call->count - count))
        outcome = FAILURE;
    if (outcome == UNCERTAIN)
        call->count = count;
    return outcome;
}

/* Let Python have the part of the chunk around where it is read, or all of it where an added token may stand in it.
   What had been put out of that is taken back. */
static Outcome give_away(Call *call, Chunk *chunk, int has_key)
{
    const uint8_t *from = chunk->part, *stop = chunk->at;
    call->count = chunk->part_count;
    chunk->has_spaces |= (int8_t)has_key;
    if (!has_key) { /* letters that are keys may have been passed */
        stop = part_end(call, from, chunk->text_end, &has_key);
        if (!stop)
            return FAILURE;
    }
    if (has_key) {
        from = chunk->start;
        stop = chunk_end(chunk->at, chunk->text_end);
        call->count = chunk->count;
    }
    size_t length = (size_t)(stop - from);
    Outcome outcome = settle_tokens(call, from, length, chunk->text_end);
    if (outcome == UNCERTAIN)
        outcome = has_key ? put_asked(call, CHUNK, call->kernel->hand_over, from, length, chunk->text_end)
                          : hand_over_part(call, from, length, chunk->text_end);
    chunk->word = NULL;
    chunk->at = stop;
    set_boundary(call, chunk, stop);
    return outcome == DONE && rest(call, stop) ? FAILURE : outcome;
}

/* Read a character that becomes something certain. */
static inline Outcome read_certain(Call *call, Chunk *chunk, Char known, const uint8_t *next)
{
    if (known.kind == ORDINARY) {
        if (!chunk->word)
            chunk->word = chunk->at;
        pass(chunk, known, next);
    } else if (known.kind != DELETED) {
        Outcome outcome = end_word(call, chunk);
        if (outcome)
            return outcome;
        if (known.kind == ALONE) {
            if (need(call, 1))
                return FAILURE;
            call->ids[call->count++] = known.id;
            pass(chunk, known, next);
        }
        if (known.kind == SPACE || known.flags & IS_BOUNDARY)
            set_boundary(call, chunk, next);
        chunk->has_spaces |= known.kind == SPACE;
        if (rest(call, next))
            return FAILURE;
    }
    chunk->at = next;
    return DONE;
}

/* Read what no quick way is for. */
static Outcome read_character(Call *call, Chunk *chunk)
{
    const uint8_t *next;
    Char known = char_at(call, chunk->at, &next);
    if (known.kind == UNASKED)
        return FAILURE;
    int is_certain = known.kind != HAND_OVER
                     && (known.flags & MAY_PASS ? is_free(call, chunk) : !(known.flags & IS_KEY));
    if (is_certain > 0 && known.kind == ORDINARY)
        is_certain = stays(call, chunk, known, next);
    if (is_certain)
        return is_certain < 0 ? FAILURE : read_certain(call, chunk, known, next);
    return known.flags & IS_KEY ? TOKEN_IN_CHUNK : TOKEN_IN_PART;
}

/* Put the ids of a chunk from where it is read. */
static Outcome encode_chunk(Call *call, Chunk *chunk)
{
    const Kernel *kernel = call->kernel;
    for (;;) {
        int is_chinese = chinese_at(kernel, chunk->at) < kernel->chinese_count;
        if (!is_chinese)
            pass_simple(kernel, chunk);
        int is_end = *chunk->at == ' ';
        Outcome outcome = is_end || is_chinese ? end_word(call, chunk) : read_character(call, chunk);
        if (is_chinese && outcome == DONE)
            outcome = pass_chinese(call, chunk);
        if (outcome >= TOKEN_IN_PART) {
            outcome = call->is_composed ? UNCERTAIN : give_away(call, chunk, outcome == TOKEN_IN_CHUNK);
            is_end = 0;
        }
        if (outcome || is_end)
            return outcome;
    }
}

#endif
