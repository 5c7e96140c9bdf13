/* What a call does with a text: chunk by chunk, word by word; and what it hands over to Python.

   In: UTF-8. Out: ids, or the steps from which spans follow, in the call's own buffer. See `_kernel.c` for what the
   kernel is. */
#ifndef TRIETOK_KERNEL_TEXTS_H
#define TRIETOK_KERNEL_TEXTS_H

#include "_kernel_characters.h"

/* What comes of a text or a part of it. FOR_PLAIN: the whole text has to go Python's plain way. UNCERTAIN: what is
   composed already cannot be told character by character either. */
typedef enum { DONE, FAILURE, FOR_PLAIN, UNCERTAIN } Outcome;

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

/* ---- asking Python ------------------------------------------------------------------------------------------------ */

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

/* What a Python function makes of bytes, given as a str; with the GIL. A new reference, NULL for an error. */
static PyObject *answer_of(PyObject *function, const uint8_t *bytes, size_t length)
{
    PyObject *text = PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, NULL);
    PyObject *answer = text ? PyObject_CallFunctionObjArgs(function, text, NULL) : NULL;
    Py_XDECREF(text);
    return answer;
}

/* What a Python function makes of bytes, given as a str: numbers, or None for a text that has to go the plain way. */
static Outcome ask_for_numbers(Call *call, PyObject *function, const uint8_t *bytes, size_t length)
{
    if (enter_python(call))
        return FAILURE;
    PyObject *numbers = answer_of(function, bytes, length);
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
    Outcome outcome = ask_for_numbers(call, function, bytes, length);
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
    PyObject *answer = answer_of(call->kernel->stay_apart, pair, length);
    int32_t result = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    leave_python(call);
    if (result < 0 || remember(call, PAIR, pair, length, &result, 1))
        return -1;
    return result;
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

/* The ids of a word all of whose code points stay in it, or are deleted. */
static Outcome work_out_word(Call *call, const uint8_t *bytes, size_t length)
{
    const uint8_t *stop = bytes + length, *next;
    size_t size = 0, code_points = 0, count = call->count;
    for (const uint8_t *at = bytes; at < stop && code_points <= call->pieces->longest_word; at = next) {
        Char known = char_at(call, at, &next);
        if (known.kind == UNASKED)
            return FAILURE;
        if (need_word(call, size, known.length + READ_AT_ONCE))
            return FAILURE;
        uint8_t *word = call->word + size;
        memcpy(word, output_of(call->kernel, &known), known.length);
        size += known.length;
        if (known.length == 1)
            code_points++;
        else
            for (size_t i = 0; i < known.length; i++)
                code_points += (word[i] & 0xc0) != 0x80;
    }
    if (need(call, size + 1))
        return FAILURE;
    if (size)
        call->count += ids_of_word(call->pieces, call->word, size, code_points, call->ids + call->count);
    return remember(call, WORD, bytes, length, call->ids + count, call->count - count) ? FAILURE : DONE;
}

static inline Outcome put_word(Call *call, const uint8_t *bytes, const uint8_t *stop, const uint8_t *text_end)
{
    Known known = recall(&call->kernel->memory, WORD, bytes, (size_t)(stop - bytes), text_end);
    if (known.ids)
        return put_known(call, known) ? FAILURE : DONE;
    return work_out_word(call, bytes, (size_t)(stop - bytes));
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

/* ---- chunks ------------------------------------------------------------------------------------------------------- */

/* A chunk between spaces as it is read. */
typedef struct {
    const uint8_t *at, *text_end;       /* where it is read, and up to where it may go on */
    const uint8_t *start, *part, *word; /* `part`: behind its last boundary; `word`: NULL between words */
    size_t count, part_count;           /* how many ids there were at `start` and at `part` */
    const uint8_t *before, *before_end; /* the last character that is not deleted; NULL at a boundary */
    int before_is_plain;
    uint8_t combining_class; /* of that character */
} Chunk;

static const uint8_t *chunk_end(const uint8_t *at, const uint8_t *text_end)
{
    const uint8_t *space = memchr(at, ' ', (size_t)(text_end - at));
    return space ? space : text_end;
}

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
static inline int stays(Call *call, const Chunk *chunk, Char known, const uint8_t *next)
{
    uint8_t own = known.combining_class, last = chunk->combining_class;
    if (own && own < last)
        return 0; /* the marks change places */
    if (!(known.flags & MAY_COMPOSE) || !chunk->before)
        return 1;
    if (last)
        return own == 0 || own == last; /* a mark between keeps it from what it might compose with */
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

/* Pass ASCII that stays in its word, and of which nothing else is to be said. */
static inline void pass_ordinary(const Kernel *kernel, Chunk *chunk)
{
    const uint8_t *run = chunk->at, *at = run;
    while (at < chunk->text_end && atomic_load_explicit(&kernel->is_ordinary[*at], memory_order_relaxed))
        at++;
    if (at == run)
        return;
    chunk->at = at;
    if (!chunk->word)
        chunk->word = run;
    chunk->before = at - 1;
    chunk->before_end = at;
    chunk->before_is_plain = 1; /* all ASCII is */
    chunk->combining_class = 0;
}

static Outcome encode_chunk(Call *call, const uint8_t **at, const uint8_t *text_end);

/* The ids of a part in its composed form, which Python gives, if that can be told character by character. */
static Outcome encode_composed(Call *call, const uint8_t *part, size_t length)
{
    size_t count = call->count, size;
    if (enter_python(call))
        return FAILURE;
    PyObject *composed = answer_of(call->kernel->compose, part, length);
    const uint8_t *bytes = composed && composed != Py_None ? utf8_of(composed, &size) : NULL;
    Outcome outcome = composed && !PyErr_Occurred() ? UNCERTAIN : FAILURE;
    leave_python(call);
    if (bytes) {
        const uint8_t *at = bytes;
        call->is_composed = 1;
        outcome = encode_chunk(call, &at, bytes + size);
        call->is_composed = 0;
        if (outcome == DONE && at != bytes + size)
            outcome = UNCERTAIN; /* a space has come about */
    }
    if (outcome == DONE && remember(call, CHUNK, part, length, call->ids + count, call->count - count))
        outcome = FAILURE;
    if (outcome == UNCERTAIN)
        call->count = count;
    enter_python(call);
    Py_XDECREF(composed);
    leave_python(call);
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
    if (!has_key) {
        stop = part_end(call, stop, chunk->text_end, &has_key);
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

static inline Outcome end_word(Call *call, Chunk *chunk)
{
    Outcome outcome = chunk->word ? put_word(call, chunk->word, chunk->at, chunk->text_end) : DONE;
    chunk->word = NULL;
    return outcome;
}

/* Read a character that becomes something certain. */
static inline Outcome read_certain(Call *call, Chunk *chunk, Char known, const uint8_t *next)
{
    if (known.kind == ORDINARY) {
        if (!chunk->word)
            chunk->word = chunk->at;
        pass(chunk, known, next);
    } else if (known.kind != DELETED) {
        if (end_word(call, chunk))
            return FAILURE;
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

/* Put the ids of the chunk that begins at `*at`, which is set to where it ends. */
static Outcome encode_chunk(Call *call, const uint8_t **at, const uint8_t *text_end)
{
    Chunk chunk = {*at, text_end, *at, *at, NULL, call->count, call->count, NULL, NULL, 0, 0};
    const uint8_t *next;
    for (;;) {
        pass_ordinary(call->kernel, &chunk);
        if (chunk.at == text_end || *chunk.at == ' ')
            break;
        Char known = char_at(call, chunk.at, &next);
        if (known.kind == UNASKED)
            return FAILURE;
        int is_certain = !(known.flags & IS_KEY) && known.kind != HAND_OVER;
        if (is_certain && known.kind == ORDINARY)
            is_certain = stays(call, &chunk, known, next);
        if (is_certain < 0)
            return FAILURE;
        if (!is_certain && call->is_composed)
            return UNCERTAIN;
        Outcome outcome =
            is_certain ? read_certain(call, &chunk, known, next) : give_away(call, &chunk, known.flags & IS_KEY);
        if (outcome)
            return outcome;
    }
    *at = chunk.at;
    return end_word(call, &chunk);
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

/* Put the ids of a text. */
static Outcome encode_text(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    call->looked = text;
    while (at < text_end) {
        if (*at == ' ') {
            at++;
            continue;
        }
        Outcome outcome = encode_chunk(call, &at, text_end);
        if (outcome)
            return outcome;
        if (rest(call, at))
            return FAILURE;
    }
    return DONE;
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
