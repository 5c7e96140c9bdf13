/* What becomes of a code point: asked of Python once, then known.

   In: a code point. Out: a `Char`. Python's answer is (kind, combining class, flags, UTF-8 of what it becomes), or tells
   of a block: to ask for each code point takes longer than all else that is done with a new one. */
#ifndef TRIETOK_KERNEL_CHARACTERS_H
#define TRIETOK_KERNEL_CHARACTERS_H

#include "_kernel_state.h"

/* What becomes of a code point. `UNASKED` is 0, as new pages are; of a code point that was asked about, it tells of an
   error. */
enum { UNASKED, ORDINARY, DELETED, SPACE, ALONE, HAND_OVER, KINDS };

/* IS_KEY: an added token may stand around it. IS_BOUNDARY: spaces are set around it. MAY_COMPOSE: with what is before
   it. IS_PLAIN: it is not composed itself, so it can be told by two whether what follows composes with it. MAY_PASS: of
   ASCII that added tokens hold; what else is said of it holds where none of them stands, which `is_free` tells. */
enum { IS_KEY = 1, IS_BOUNDARY = 2, MAY_COMPOSE = 4, IS_PLAIN = 8, MAY_PASS = 16, FLAGS = 32 };

/* What a byte behind a word gives, if it is no id: a space ends the chunk, other whitespace the word. */
enum Follow { CHUNK_ENDS = -1, WORD_ENDS = -2, LOOK_CLOSER = -3 };

enum Letters { NOT_ASKED, ARE_SIMPLE, ARE_NOT_SIMPLE };

enum { LONGEST_OUTPUT = 64, SHORT_OUTPUT = 4 }; /* bytes that a code point may become */

typedef struct {
    uint8_t kind, combining_class, length, flags;
    union {
        int32_t id;                  /* of what is `ALONE` */
        uint8_t bytes[SHORT_OUTPUT]; /* what it becomes */
        uint32_t place;              /* of more bytes, in the outputs */
    };
} Char;

/* Of a code point of which nothing can be kept, its chunk goes to Python as a whole each time. */
static const Char NO_ROOM = {HAND_OVER, 0, 0, IS_KEY, {0}}, FAILED = {UNASKED, 0, 0, 0, {0}};

_Static_assert(sizeof(Char) == sizeof(uint64_t), "a Char is written at once");

static inline Char char_of(uint64_t number)
{
    Char known;
    memcpy(&known, &number, sizeof known);
    return known;
}

/* ---- keeping it: with the lock ----------------------------------------------------------------------------------- */

/* Take `size` bytes for what is known of code points: 1, 0 where that would be too many, -1 for no memory. */
static int take(Kernel *kernel, void **taken, size_t size)
{
    if (kernel->char_bytes + size > kernel->limit / 2)
        return 0;
    *taken = new_zeroed(1, size);
    if (!*taken)
        return -1;
    kernel->char_bytes += size;
    kernel->memory.limit = kernel->limit - kernel->char_bytes;
    return 1;
}

/* Put the bytes that a code point becomes where they fit: 1, 0 or -1 as `take`. */
static int put_output(Kernel *kernel, Char *made, const uint8_t *bytes)
{
    if (made->length <= SHORT_OUTPUT) {
        memcpy(made->bytes, bytes, made->length);
        return 1;
    }
    size_t used = kernel->outputs_used;
    if (used % OUTPUT_BLOCK + made->length > OUTPUT_BLOCK)
        used += OUTPUT_BLOCK - used % OUTPUT_BLOCK;
    if (used / OUTPUT_BLOCK == OUTPUT_BLOCKS)
        return 0;
    uint8_t **block = &kernel->outputs[used / OUTPUT_BLOCK];
    if (!*block) {
        int has_room = take(kernel, (void **)block, OUTPUT_BLOCK);
        if (has_room <= 0)
            return has_room;
    }
    memcpy(*block + used % OUTPUT_BLOCK, bytes, made->length);
    made->place = (uint32_t)used;
    kernel->outputs_used = used + made->length;
    return 1;
}

static inline int is_alphanumeric(uint32_t code) { return (code | 32) - 'a' < 26 || code - '0' < 10; }

static inline int is_simple(const Kernel *kernel, uint32_t code_point)
{
    _Atomic uint64_t *bits = &((Kernel *)kernel)->is_simple[code_point / 64];
    return atomic_load_explicit(bits, memory_order_relaxed) >> code_point % 64 & 1;
}

/* Note that a code point is simple: it stays in its word, composes with nothing before it, and is no key; or it is a
   letter or digit of ASCII, whose keys are looked for once a word is new. And what ASCII behind a word gives. */
static void note_quickly(Kernel *kernel, uint32_t code_point, Char made)
{
    int may_be_key = made.flags & (IS_KEY | MAY_PASS);
    if (made.kind == ORDINARY && code_point < 0x10000 && !made.combining_class && !(made.flags & MAY_COMPOSE)
        && (!may_be_key || (made.flags & MAY_PASS && is_alphanumeric(code_point))))
        atomic_fetch_or_explicit(
            &kernel->is_simple[code_point / 64], (uint64_t)1 << code_point % 64, memory_order_relaxed);
    if (code_point >= 0x80 || code_point == ' ' || may_be_key || kernel->is_in_head[kernel->folds[code_point]])
        return;
    if (made.kind == SPACE)
        atomic_store_explicit(&kernel->follow[code_point], WORD_ENDS, memory_order_relaxed);
    else if (made.kind == ALONE && !(made.flags & (IS_BOUNDARY | MAY_COMPOSE)))
        atomic_store_explicit(&kernel->follow[code_point], made.id, memory_order_relaxed);
}

/* Write down what becomes of a code point, unless another thread was first. */
static Char keep_char(Kernel *kernel, uint32_t code_point, Char made, const uint8_t *bytes)
{
    PageCell *page = &kernel->pages[code_point / PAGE];
    CharCell *cells = atomic_load_explicit(page, memory_order_relaxed);
    if (!cells) {
        void *taken = NULL;
        int has_room = take(kernel, &taken, PAGE * sizeof(CharCell));
        if (has_room <= 0)
            return has_room ? FAILED : NO_ROOM;
        cells = taken;
        atomic_store_explicit(page, cells, memory_order_release);
    }
    Char known = char_of(atomic_load_explicit(&cells[code_point % PAGE], memory_order_relaxed));
    if (known.kind != UNASKED)
        return known;
    if (made.kind != ALONE) {
        int has_room = put_output(kernel, &made, bytes);
        if (has_room <= 0)
            return has_room ? FAILED : NO_ROOM;
    }
    uint64_t number;
    memcpy(&number, &made, sizeof number);
    atomic_store_explicit(&cells[code_point % PAGE], number, memory_order_release);
    note_quickly(kernel, code_point, made);
    return made;
}

/* What is known of a code point; of kind UNASKED if nothing is. */
static inline Char known_char(const Kernel *kernel, uint32_t code_point)
{
    CharCell *page = atomic_load_explicit((PageCell *)&kernel->pages[code_point / PAGE], memory_order_acquire);
    return page ? char_of(atomic_load_explicit(&page[code_point % PAGE], memory_order_acquire)) : FAILED;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* Keep what becomes of a code point, whose bytes are given. */
static Char note_char(Call *call, int has_gil, uint32_t code_point, Char made, const uint8_t *bytes)
{
    if (made.kind == ALONE) {
        int32_t ids[LONGEST_OUTPUT];
        ids_of_word(call->pieces, bytes, made.length, 1, ids);
        made.id = ids[0];
    }
    lock_kernels(has_gil);
    made = keep_char(call->kernel, code_point, made, bytes);
    unlock_kernels();
    return made;
}

/* Keep what an answer of Python's says of a code point. */
static Char read_answer(Call *call, uint32_t code_point, PyObject *answer)
{
    uint8_t bytes[LONGEST_OUTPUT + READ_AT_ONCE] = {0};
    int kind, combining_class, flags;
    const char *output;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(answer, "iiiy#", &kind, &combining_class, &flags, &output, &length))
        return FAILED;
    if (kind <= UNASKED || kind >= KINDS || combining_class < 0 || combining_class > 255 || flags < 0 || flags >= FLAGS
        || length > LONGEST_OUTPUT || (kind == ALONE && !length)) {
        PyErr_SetString(PyExc_ValueError, "no answer that the kernel understands");
        return FAILED;
    }
    memcpy(bytes, output, (size_t)length);
    Char made = {(uint8_t)kind, (uint8_t)combining_class, (uint8_t)length, (uint8_t)flags, {0}};
    return note_char(call, 1, code_point, made, bytes);
}

/* Keep what an answer of Python's says of a block of code points. -1 for an error. */
static int read_block(Call *call, PyObject *answer)
{
    const char *values, *outputs;
    Py_ssize_t count, size;
    unsigned int first;
    if (!PyArg_ParseTuple(answer, "Iy#y#", &first, &values, &count, &outputs, &size))
        return -1;
    const char *at = outputs, *end = outputs + size, *stop;
    for (uint32_t i = 0; i < (uint32_t)count && first < PAGE * PAGES - i; i++) {
        uint8_t bytes[LONGEST_OUTPUT + READ_AT_ONCE] = {0}, kind = (uint8_t)values[i] & 7;
        size_t length = 0;
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (!size)
            length = put_code_point(bytes, first + i);
        else if ((length = (size_t)(stop - at)) <= LONGEST_OUTPUT)
            memcpy(bytes, at, length);
        at = stop < end ? stop + 1 : end;
        if (kind != ORDINARY && kind != ALONE)
            length = 0;
        if (kind == UNASKED || kind >= KINDS || length > LONGEST_OUTPUT || (kind == ALONE && !length))
            continue;
        Char made = {kind, 0, (uint8_t)length, (uint8_t)values[i] >> 3, {0}};
        if (note_char(call, 1, first + i, made, bytes).kind == UNASKED)
            return -1;
    }
    return 0;
}

/* Ask Python about a code point. At first it may answer for a block, and leave out this one. */
static Char ask_python(Call *call, uint32_t code_point, int may_be_block)
{
    PyObject *answer = PyObject_CallFunction(call->kernel->classify, "I", (unsigned int)code_point);
    int is_block = may_be_block && answer && PyTuple_Check(answer) && PyTuple_Size(answer) == 3;
    Char known = FAILED;
    if (answer && !is_block)
        known = read_answer(call, code_point, answer);
    else if (answer && !read_block(call, answer))
        known = known_char(call->kernel, code_point);
    Py_XDECREF(answer);
    return is_block && known.kind == UNASKED && !PyErr_Occurred() ? ask_python(call, code_point, 0) : known;
}

static Char ask_about(Call *call, uint32_t code_point)
{
    uint8_t bytes[LONGEST_OUTPUT + READ_AT_ONCE] = {0};
    if (code_point >= call->kernel->alone_first && code_point <= call->kernel->alone_last) {
        Char made = {ALONE, 0, (uint8_t)put_code_point(bytes, code_point), IS_BOUNDARY, {0}};
        return note_char(call, !call->without_gil, code_point, made, bytes);
    }
    if (enter_python(call))
        return FAILED;
    Char made = ask_python(call, code_point, 1);
    leave_python(call);
    return made;
}

/* What becomes of the code point at `at`; `FAILED` for an error. */
static inline Char char_at(Call *call, const uint8_t *at, const uint8_t **next)
{
    uint32_t code_point = code_point_at(at, next);
    Char known = known_char(call->kernel, code_point);
    return LIKELY(known.kind != UNASKED) ? known : ask_about(call, code_point);
}

/* Ask about the letters and digits of ASCII, of which most words are. -1 for an error. */
static int ask_about_letters(Call *call)
{
    int are_simple = 1;
    for (uint8_t byte = '0'; byte <= 'z'; byte++) {
        const uint8_t *next;
        if (!is_alphanumeric(byte))
            continue;
        if (char_at(call, &byte, &next).kind == UNASKED)
            return -1;
        are_simple &= is_simple(call->kernel, byte);
    }
    atomic_store_explicit(&call->kernel->letters, are_simple ? ARE_SIMPLE : ARE_NOT_SIMPLE, memory_order_relaxed);
    return 0;
}

/* The bytes that a code point becomes. */
static inline const uint8_t *output_of(const Kernel *kernel, const Char *known)
{
    if (known->length <= SHORT_OUTPUT)
        return known->bytes;
    return kernel->outputs[known->place / OUTPUT_BLOCK] + known->place % OUTPUT_BLOCK;
}

#endif
