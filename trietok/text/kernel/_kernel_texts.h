/* What a call does with a text: chunk by chunk, word by word; and what it hands over to Python.

   In: UTF-8. Out: ids, or the steps from which spans follow, in the call's own buffer. See `_kernel.c` for what the
   kernel is. */
#ifndef TRIETOK_KERNEL_TEXTS_H
#define TRIETOK_KERNEL_TEXTS_H

#include "_kernel_characters.h"

/* What comes of a text or a part of it. FOR_PLAIN: the whole text has to go Python's plain way. UNCERTAIN: what is
   composed already cannot be told character by character either. TOKEN_...: an added token may stand in a word, so
   Python has to have the part of the chunk around it, or all of the chunk. */
typedef enum { DONE, FAILURE, FOR_PLAIN, UNCERTAIN, TOKEN_IN_PART, TOKEN_IN_CHUNK } Outcome;

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

static Outcome take_numbers(Call *call, PyObject *numbers)
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
        if (number < INT32_MIN || number > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "a number that does not fit into 32 bits");
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

/* What a Python function makes of a text: numbers, or None where all of it has to go the plain way. */
static Outcome ask_for_numbers(Call *call, PyObject *function, Item item)
{
    if (enter_python(call))
        return FAILURE;
    PyObject *numbers = answer_of(function, item);
    Outcome outcome = numbers == Py_None ? FOR_PLAIN : take_numbers(call, numbers);
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
    Outcome outcome = ask_for_numbers(call, function, (Item){NULL, bytes, length});
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

/* Whether it is certain that no added token stands in a chunk: it is short and of printable ASCII, which no stage
   changes but for its case, and has none of the patterns in any case. */
static int has_no_token(const Kernel *kernel, const uint8_t *start, const uint8_t *stop)
{
    uint8_t lowered[BYTES_AT_HAND + READ_AT_ONCE] = {0};
    size_t length = (size_t)(stop - start), found;
    if (!kernel->has_patterns || length > BYTES_AT_HAND)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (start[i] <= 0x20 || start[i] >= 0x7f)
            return 0;
        lowered[i] = start[i] | (uint8_t)(start[i] >= 'A' && start[i] <= 'Z' ? 32 : 0);
    }
    for (size_t set = 0; set < kernel->pattern_count; set++)
        for (size_t i = 0; i < length; i++)
            if (longest_piece(kernel->pattern_sets[set], FRONT, lowered + i, length - i, &found) != NO_ID)
                return 0;
    return 1;
}

/* Whether the chunk that is read is free of added tokens. */
static int is_free(const Call *call, Chunk *chunk)
{
    if (chunk->is_free < 0)
        chunk->is_free = (int8_t)has_no_token(call->kernel, chunk->start, chunk_end(chunk->at, chunk->text_end));
    return chunk->is_free;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

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
    if (need(call, size + 1))
        return FAILURE;
    if (size)
        call->count += ids_of_word(call->pieces, call->word, size, code_points, call->ids + call->count);
    return remember(call, WORD, bytes, length, call->ids + count, call->count - count) ? FAILURE : DONE;
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
static inline size_t alphanumerics_at(const uint8_t *at) { return lowest_bit(~alphanumeric_bits(at)); }

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

/* Let Python have the part of the chunk around where it is read, or all of it where an added token may stand in it.
   What had been put out of that is taken back. */
static Outcome give_away(Call *call, Chunk *chunk, int has_key)
{
    const uint8_t *from = chunk->part, *stop = chunk->at;
    call->count = chunk->part_count;
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
    Outcome outcome = has_key ? put_asked(call, CHUNK, call->kernel->hand_over, from, length, chunk->text_end)
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

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Words of ASCII, each with what is behind it. Their entries are far from each other in memory, so it is asked for
   those of many words before the first is looked at. */
enum { WORDS_AT_ONCE = 24, IDS_AT_ONCE = WORDS_AT_ONCE * (IDS_IN_ENTRY + 1) + IDS_IN_ENTRY, BYTES_AT_ONCE = 1 << 16 };

typedef struct {
    Pair key;
    uint64_t hash;
    const Entry *entry; /* that the first place leads to; it may be another word's */
    const uint8_t *at;
    size_t length;
    int32_t follow;
} AsciiWord;

/* Read up to so many words and what is behind each, up to what is to be looked at more closely. Returns how many. */
static inline size_t read_words(
    const Kernel *kernel, const Table *table, const uint8_t *at, const uint8_t *end, AsciiWord *words)
{
    size_t count = 0;
    for (; count < WORDS_AT_ONCE && at < end; count++) {
        AsciiWord *word = &words[count];
        size_t length = alphanumerics_at(at);
        if (length > LONGEST_SHORT)
            break;
        word->follow = atomic_load_explicit(&((Kernel *)kernel)->follow[at[length]], memory_order_relaxed);
        if (word->follow == LOOK_CLOSER)
            break;
        word->key = pair_of(at, length);
        word->key.high |= (uint64_t)WORD << KIND_SHIFT | (uint64_t)(length + 1) << LENGTH_SHIFT;
        word->hash = hash_of_key(&kernel->memory, word->key.low, word->key.high);
        FETCH((const void *)&table->places[word->hash & table->mask]);
        word->at = at;
        word->length = length;
        at += length + 1;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t place = atomic_load_explicit(&table->places[words[i].hash & table->mask], memory_order_acquire);
        uint64_t number = place & table->mask;
        words[i].entry = number ? entry_of(table->store, number) : NULL;
        FETCH(words[i].entry);
    }
    return count;
}

/* Put the ids of a word that was read ahead. */
static inline Outcome put_ascii_word(Call *call, Chunk *chunk, const Table *table, const AsciiWord *word)
{
    const Entry *entry = word->entry;
    if (UNLIKELY(!entry || entry->first != word->key.low || entry->second != word->key.high)) {
        uint64_t at;
        entry = find_entry(table, word->key, word->hash, word->at, word->length, &at);
    }
    if (UNLIKELY(!entry)) {
        chunk->at = word->at + word->length;
        Outcome outcome = work_out_word(call, chunk, word->at, word->length);
        return outcome == DONE && need(call, IDS_AT_ONCE) ? FAILURE : outcome;
    }
    if (UNLIKELY(entry->count > IDS_IN_ENTRY))
        return put_known(call, known_of(entry)) || need(call, IDS_AT_ONCE) ? FAILURE : DONE;
    memcpy(call->ids + call->count, entry->ids, sizeof entry->ids); /* the same each time is quick */
    call->count += entry->count;
    return DONE;
}

/* Put the ids of words of ASCII and of what is between them, from the beginning of a chunk on: up to about `end`, or to
   what is to be looked at more closely. The chunk is the one that is read there. */
static Outcome pass_words(Call *call, Chunk *chunk, const uint8_t *end)
{
    AsciiWord words[WORDS_AT_ONCE];
    Outcome outcome = DONE;
    const uint8_t *at = chunk->at;
    size_t read = WORDS_AT_ONCE, done = read;
    while (done == read && read == WORDS_AT_ONCE && at < end) {
        /* Entries that were read ahead are this table's, whatever becomes of the memory meanwhile. */
        const Table *table = table_of(&call->kernel->memory);
        read = read_words(call->kernel, table, at, end, words);
        if (need(call, IDS_AT_ONCE))
            return FAILURE;
        for (done = 0; done < read; done++) {
            const AsciiWord *word = &words[done];
            if (word->length && (outcome = put_ascii_word(call, chunk, table, word)))
                break;
            call->ids[call->count] = word->follow;
            call->count += word->follow >= 0;
            at = word->at + word->length + 1;
            if (word->follow < 0) {
                chunk->part = at;
                chunk->part_count = call->count;
            }
            if (word->follow == CHUNK_ENDS) {
                chunk->start = at;
                chunk->count = call->count;
                chunk->is_free = -1;
            }
        }
    }
    chunk->at = at;
    chunk->before = at > chunk->part ? at - 1 : NULL;
    chunk->before_end = at;
    chunk->before_is_plain = 1; /* all ASCII is */
    return outcome >= TOKEN_IN_PART ? DONE : outcome; /* which the one who goes on finds again */
}

/* Put the ids of a text behind which are a space and more bytes. */
static Outcome encode_padded(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    _Atomic int *letters = &call->kernel->letters;
    call->looked = text;
    if (UNLIKELY(atomic_load_explicit(letters, memory_order_relaxed) == NOT_ASKED) && ask_about_letters(call))
        return FAILURE;
    int are_simple = atomic_load_explicit(letters, memory_order_relaxed) == ARE_SIMPLE;
    while (at < text_end) {
        Chunk chunk = new_chunk(call, at, text_end);
        Outcome outcome = DONE;
        if (are_simple)
            outcome = pass_words(call, &chunk, text_end - at > BYTES_AT_ONCE ? at + BYTES_AT_ONCE : text_end);
        if (outcome == DONE && chunk.at < text_end)
            outcome = encode_chunk(call, &chunk);
        if (outcome)
            return outcome;
        at = chunk.at + 1; /* behind the space */
        if (rest(call, at))
            return FAILURE;
    }
    return DONE;
}

/* Put the ids of a text. What is at its end is read in a copy, behind which bytes may be read. */
static Outcome encode_text(Call *call, const uint8_t *text, size_t size)
{
    size_t cut = 0;
    if (size > TEXT_AT_HAND) {
        for (cut = size - PADDING; cut && text[cut] != ' ' && size - cut <= TEXT_AT_HAND;)
            cut--;
        cut = text[cut] == ' ' ? cut : 0;
    }
    Outcome outcome = cut ? encode_padded(call, text, cut) : DONE;
    if (outcome)
        return outcome;
    uint8_t *copy = padded(text + cut, size - cut, call->text_at_hand, TEXT_AT_HAND);
    outcome = copy ? encode_padded(call, copy, size - cut) : FAILURE;
    if (copy != call->text_at_hand)
        give_back(copy);
    return outcome;
}

static Outcome encode_item(Call *call, Item item)
{
    size_t count = call->count;
    Outcome outcome = item.bytes ? encode_text(call, item.bytes, item.size) : FOR_PLAIN;
    if (outcome != FOR_PLAIN)
        return outcome;
    call->count = count;
    return ask_for_numbers(call, call->kernel->plain, item);
}

/* Put the steps of a text: from the end of the last chunk to where its first token starts, from there to where it
   ends, and so on, in code points; of which a space between chunks is one. */
static Outcome put_steps(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    call->looked = text;
    for (;;) {
        const uint8_t *stop = chunk_end(at, text_end);
        Outcome outcome = put_asked(call, STEPS, call->kernel->steps, at, (size_t)(stop - at), text_end);
        if (outcome)
            return outcome;
        if (stop == text_end)
            return DONE;
        at = stop + 1;
        if (rest(call, at))
            return FAILURE;
    }
}

#endif
