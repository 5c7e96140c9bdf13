/* What a call does with a text: chunk by chunk, word by word; what it asks Python, and how it keeps out of the way of
   other threads.

   In: UTF-8. Out: ids in the call's own buffer. See `_kernel.c` for what the kernel is. */
#ifndef TRIETOK_KERNEL_CALLS_H
#define TRIETOK_KERNEL_CALLS_H

#include "_kernel_memory.h"
#include "_kernel_pieces.h"

/* What becomes of a code point. `UNASKED` is 0, as new pages are. */
enum { UNASKED, ORDINARY, DELETED, SPACE, ALONE, HAND_OVER, KINDS };

/* IS_KEY: an added token may stand around it. IS_BOUNDARY: spaces are set around it. MAY_COMPOSE: with what is before
   it. IS_PLAIN: it is not composed itself, so it can be told by two whether what follows composes with it. */
enum { IS_KEY = 1, IS_BOUNDARY = 2, MAY_COMPOSE = 4, IS_PLAIN = 8 };

enum {
    PAGE = 256,
    PAGES = 0x110000 / PAGE,
    LONGEST_OUTPUT = 64,      /* bytes that a code point may become */
    IDS_AT_HAND = 256,        /* ids that a call has room for without asking for memory */
    BYTES_AT_HAND = 512,      /* the same for the bytes of a word */
    BYTES_BETWEEN_LOOKS = 1 << 20, /* bytes of text between looks for signals */
    LEAST_LIMIT = 1 << 18
};

typedef struct {
    uint8_t kind, combining_class, length, flags;
    int32_t value; /* of what is `ALONE` the id, else where its `length` bytes are in `outputs` */
} Char;

static const Char NO_ROOM = {HAND_OVER, 0, 0, IS_KEY, 0};

typedef struct {
    PyObject_HEAD
    Pieces pieces;
} Vocabulary;

typedef struct {
    PyObject_HEAD
    PyObject *vocabulary, *classify, *stay_apart, *hand_over, *plain;
    PyThread_type_lock lock;
    Memory memory;
    Char *pages[PAGES];
    size_t limit;      /* bytes, of all that is remembered */
    size_t char_bytes; /* of the pages and of `outputs`, at most half of them */
    uint8_t *outputs;
    size_t outputs_used, outputs_size;
    uint8_t is_ordinary[256]; /* ASCII that stays in its word, and nothing else is to be said of it */
    PyObject **numbers;       /* ints already made; read and written with the GIL */
    size_t numbers_size;
    uint64_t handed_over;
    PyObject *weak_references;
} Kernel;

/* One call: its own state, so that a call may begin while another one is under way. */
typedef struct {
    Kernel *kernel;
    const Pieces *pieces;
    int without_gil;
    PyThreadState *released;
    int32_t *ids;
    size_t count, size;
    uint8_t *word;
    size_t word_size;
    int32_t ids_at_hand[IDS_AT_HAND];
    uint8_t word_at_hand[BYTES_AT_HAND];
} Call;

/* ---- locks, the GIL and memory of a call -------------------------------------------------------------------------- */

/* A thread that has the GIL gives it up while it waits; so a thread that has the lock may wait for the GIL. */
static void lock_kernel(Kernel *kernel, int has_gil)
{
    if (PyThread_acquire_lock(kernel->lock, NOWAIT_LOCK))
        return;
    PyThreadState *state = has_gil ? PyEval_SaveThread() : NULL;
    PyThread_acquire_lock(kernel->lock, WAIT_LOCK);
    if (state)
        PyEval_RestoreThread(state);
}

static void enter_python(Call *call)
{
    PyThread_release_lock(call->kernel->lock);
    if (call->without_gil)
        PyEval_RestoreThread(call->released);
}

static void leave_python(Call *call)
{
    if (call->without_gil)
        call->released = PyEval_SaveThread();
    lock_kernel(call->kernel, !call->without_gil);
}

static void begin(Call *call, Kernel *kernel, int without_gil)
{
    call->kernel = kernel;
    call->pieces = &((Vocabulary *)kernel->vocabulary)->pieces;
    call->without_gil = without_gil;
    call->released = NULL;
    call->ids = call->ids_at_hand;
    call->count = 0;
    call->size = IDS_AT_HAND;
    call->word = call->word_at_hand;
    call->word_size = BYTES_AT_HAND;
    leave_python(call);
}

/* Frees what the call has. */
static void end(Call *call)
{
    if (call->ids != call->ids_at_hand)
        give_back(call->ids);
    if (call->word != call->word_at_hand)
        give_back(call->word);
}

static int widen(Call *call, size_t more)
{
    size_t size = 2 * (call->count + more);
    int is_at_hand = call->ids == call->ids_at_hand;
    int32_t *ids = resized(is_at_hand ? NULL : call->ids, size * sizeof *ids);
    if (!ids)
        return -1;
    if (is_at_hand)
        memcpy(ids, call->ids, call->count * sizeof *ids);
    call->ids = ids;
    call->size = size;
    return 0;
}

/* See to it that there is room for so many more ids. */
static inline int need(Call *call, size_t more) { return call->count + more <= call->size ? 0 : widen(call, more); }

static int need_word(Call *call, size_t size)
{
    if (size <= call->word_size)
        return 0;
    uint8_t *word = resized(call->word == call->word_at_hand ? NULL : call->word, 2 * size);
    if (!word)
        return -1;
    call->word = word; /* what was in it is not needed any more */
    call->word_size = 2 * size;
    return 0;
}

static inline int put_slot(Call *call, const Slot *slot)
{
    if (need(call, slot->count + IDS_IN_SLOT))
        return -1;
    if (slot->count <= IDS_IN_SLOT)
        memcpy(call->ids + call->count, slot->ids, sizeof slot->ids); /* as many bytes each time, which is quick */
    else
        memcpy(call->ids + call->count, ids_in(&call->kernel->memory, slot), slot->count * sizeof *call->ids);
    call->count += slot->count;
    return 0;
}

/* ---- asking Python ------------------------------------------------------------------------------------------------ */

/* Signals and other threads get their turn. */
static int look_for_signals(Call *call)
{
    enter_python(call);
    int result = PyErr_CheckSignals();
    leave_python(call);
    return result;
}

static int take_ids(Call *call, PyObject *ids)
{
    Py_ssize_t count = ids ? PySequence_Size(ids) : -1;
    if (count < 0 || need(call, (size_t)count))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = PySequence_GetItem(ids, i);
        long long id = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
        if (id < 0 || id > INT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_OverflowError, "an id that does not fit into 32 bits");
            return -1;
        }
        call->ids[call->count++] = (int32_t)id;
    }
    return 0;
}

/* What a Python function makes of bytes, given as a str: ids. */
static int ask_for_ids(Call *call, PyObject *function, const uint8_t *bytes, size_t length)
{
    enter_python(call);
    PyObject *text = PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, NULL);
    PyObject *ids = text ? PyObject_CallFunctionObjArgs(function, text, NULL) : NULL;
    int result = take_ids(call, ids);
    Py_XDECREF(ids);
    Py_XDECREF(text);
    leave_python(call);
    return result;
}

static int hand_over(Call *call, const uint8_t *bytes, size_t length)
{
    Kernel *kernel = call->kernel;
    const Slot *slot = recall(&kernel->memory, CHUNK, bytes, length, bytes + length);
    if (slot)
        return put_slot(call, slot);
    size_t count = call->count;
    if (ask_for_ids(call, kernel->hand_over, bytes, length))
        return -1;
    kernel->handed_over++;
    return remember(&kernel->memory, CHUNK, bytes, length, call->ids + count, call->count - count);
}

/* Whether what may compose stays as it is behind a character; `pair` is the bytes of both. -1 for an error. */
static int stays_apart(Call *call, const uint8_t *pair, size_t length)
{
    Kernel *kernel = call->kernel;
    const Slot *slot = recall(&kernel->memory, PAIR, pair, length, pair + length);
    if (slot)
        return slot->ids[0];
    enter_python(call);
    PyObject *text = PyUnicode_DecodeUTF8((const char *)pair, (Py_ssize_t)length, NULL);
    PyObject *answer = text ? PyObject_CallFunctionObjArgs(kernel->stay_apart, text, NULL) : NULL;
    int32_t result = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(text);
    leave_python(call);
    if (result < 0 || remember(&kernel->memory, PAIR, pair, length, &result, 1))
        return -1;
    return result;
}

/* ---- code points -------------------------------------------------------------------------------------------------- */

/* The code point at `at`, of UTF-8 that Python has made or checked. */
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

/* Take `size` bytes for what is known of code points; 0 where that would be too many. */
static int reserve(Kernel *kernel, size_t size)
{
    if (kernel->char_bytes + size > kernel->limit / 2)
        return 0;
    kernel->char_bytes += size;
    kernel->memory.limit = kernel->limit - kernel->char_bytes;
    return 1;
}

/* Where the bytes are put that a code point becomes: 1, 0 where there is no room, -1 for no memory. */
static int put_output(Kernel *kernel, Char *made, const uint8_t *bytes)
{
    size_t used = kernel->outputs_used, more = kernel->outputs_size + 4096;
    if (used + made->length > kernel->outputs_size) {
        if (!reserve(kernel, more))
            return 0;
        uint8_t *outputs = resized(kernel->outputs, kernel->outputs_size + more);
        if (!outputs) {
            kernel->char_bytes -= more;
            return -1;
        }
        kernel->outputs = outputs;
        kernel->outputs_size += more;
    }
    memcpy(kernel->outputs + used, bytes, made->length);
    made->value = (int32_t)used;
    kernel->outputs_used = used + made->length;
    return 1;
}

/* What Python says of a code point: (kind, combining class, flags, bytes). Asked with the GIL, without the lock. */
static int ask_python(PyObject *classify, uint32_t code_point, Char *made, uint8_t bytes[LONGEST_OUTPUT])
{
    int kind, combining_class, flags, result = -1;
    const char *output;
    Py_ssize_t length;
    PyObject *answer = PyObject_CallFunction(classify, "I", (unsigned int)code_point);
    if (answer && PyArg_ParseTuple(answer, "iiiy#", &kind, &combining_class, &flags, &output, &length)) {
        if (kind <= UNASKED || kind >= KINDS || combining_class < 0 || combining_class > 255 || flags < 0 || flags > 15
            || length > LONGEST_OUTPUT || (kind == ALONE && !length)) {
            PyErr_SetString(PyExc_ValueError, "no answer that the kernel understands");
        } else {
            *made = (Char){(uint8_t)kind, (uint8_t)combining_class, (uint8_t)length, (uint8_t)flags, 0};
            memcpy(bytes, output, (size_t)length);
            result = 0;
        }
    }
    Py_XDECREF(answer);
    return result;
}

static const Char *ask_about(Call *call, uint32_t code_point)
{
    Kernel *kernel = call->kernel;
    Char **page = &kernel->pages[code_point / PAGE], made;
    uint8_t bytes[LONGEST_OUTPUT];
    if (!*page) {
        if (!reserve(kernel, PAGE * sizeof(Char)))
            return &NO_ROOM;
        *page = new_zeroed(PAGE, sizeof(Char));
        if (!*page) {
            kernel->char_bytes -= PAGE * sizeof(Char);
            return NULL;
        }
    }
    enter_python(call);
    int result = ask_python(kernel->classify, code_point, &made, bytes);
    leave_python(call);
    if (result)
        return NULL;
    Char *known = *page + code_point % PAGE;
    if (known->kind)
        return known; /* another thread was first */
    if (made.kind == ALONE) {
        int32_t ids[LONGEST_OUTPUT];
        ids_of_word(call->pieces, bytes, made.length, 1, ids);
        made.value = ids[0];
    } else {
        int has_room = put_output(kernel, &made, bytes);
        if (has_room <= 0)
            return has_room ? NULL : &NO_ROOM;
    }
    *known = made;
    if (code_point < 0x80)
        kernel->is_ordinary[code_point] = made.kind == ORDINARY && !(made.flags & IS_KEY);
    return known;
}

/* What becomes of the code point at `at`; NULL for an error. Once known it stays known, and where it is. */
static inline const Char *char_at(Call *call, const uint8_t *at, const uint8_t **next)
{
    uint32_t code_point = code_point_at(at, next);
    const Char *page = call->kernel->pages[code_point / PAGE];
    if (page && page[code_point % PAGE].kind)
        return page + code_point % PAGE;
    return ask_about(call, code_point);
}

/* ---- words and chunks --------------------------------------------------------------------------------------------- */

/* The ids of a word all of whose code points are known to stay in it, or to be deleted. */
static int work_out_word(Call *call, const uint8_t *bytes, size_t length)
{
    Kernel *kernel = call->kernel;
    const uint8_t *stop = bytes + length, *next;
    size_t size = 0, code_points = 0, count = call->count;
    for (const uint8_t *at = bytes; at < stop; at = next) {
        const Char *known = char_at(call, at, &next);
        if (!known)
            return -1;
        size += known->length;
    }
    if (need_word(call, size) || need(call, size + 1))
        return -1;
    uint8_t *word = call->word;
    for (const uint8_t *at = bytes; at < stop; at = next) {
        const Char *known = char_at(call, at, &next);
        memcpy(word, kernel->outputs + known->value, known->length);
        for (uint8_t *last = word + known->length; word < last; word++)
            code_points += (*word & 0xc0) != 0x80;
    }
    if (size)
        call->count += ids_of_word(call->pieces, call->word, size, code_points, call->ids + call->count);
    return remember(&kernel->memory, WORD, bytes, length, call->ids + count, call->count - count);
}

static inline int put_word(Call *call, const uint8_t *bytes, const uint8_t *stop, const uint8_t *text_end)
{
    const Slot *slot = recall(&call->kernel->memory, WORD, bytes, (size_t)(stop - bytes), text_end);
    return slot ? put_slot(call, slot) : work_out_word(call, bytes, (size_t)(stop - bytes));
}

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
        const Char *known = char_at(call, at, &next);
        if (!known)
            return NULL;
        *has_key |= known->flags & IS_KEY;
        if (*has_key || known->kind == SPACE || (known->kind == ALONE && known->flags & IS_BOUNDARY))
            break;
    }
    return at;
}

/* A chunk between spaces as it is read. */
typedef struct {
    const uint8_t *start, *part, *word;  /* `part`: behind its last boundary; `word`: NULL between words */
    size_t count, part_count;            /* how many ids there were at `start` and at `part` */
    const uint8_t *before, *before_end;  /* the last character that is not deleted; NULL at a boundary */
    int before_is_plain;
    uint8_t combining_class; /* of that character */
} Chunk;

/* Whether a character stays as it is behind what is before it in the chunk: composition passes it by. Order of marks
   and composition are those of Unicode Standard Annex 15. 1, 0 where that is not certain, -1 for an error. */
static inline int stays(Call *call, const Chunk *chunk, const Char *known, const uint8_t *at, const uint8_t *next)
{
    uint8_t own = known->combining_class, last = chunk->combining_class;
    if (own && own < last)
        return 0; /* the marks change places */
    if (!(known->flags & MAY_COMPOSE) || !chunk->before)
        return 1;
    if (last)
        return own == 0 || own == last; /* a mark between keeps it from what it might compose with */
    if (!chunk->before_is_plain || chunk->before_end != at)
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

static inline void pass(Chunk *chunk, const Char *known, const uint8_t *at, const uint8_t *next)
{
    chunk->before = at;
    chunk->before_end = next;
    chunk->before_is_plain = known->flags & IS_PLAIN;
    chunk->combining_class = known->combining_class;
}

/* Let Python have the part of the chunk around `at`, or all of it where an added token may stand in it. What had been
   put out of that is taken back. Returns where to go on. */
static const uint8_t *give_away(Call *call, Chunk *chunk, const uint8_t *at, const uint8_t *text_end, int has_key)
{
    const uint8_t *from = chunk->part, *stop = at;
    call->count = chunk->part_count;
    if (!has_key) {
        stop = part_end(call, at, text_end, &has_key);
        if (!stop)
            return NULL;
    }
    if (has_key) {
        from = chunk->start;
        stop = chunk_end(at, text_end);
        call->count = chunk->count;
    }
    if (hand_over(call, from, (size_t)(stop - from)))
        return NULL;
    chunk->word = NULL;
    set_boundary(call, chunk, stop);
    return stop;
}

/* The ids of the chunk that begins at `start`. Returns where it ends; NULL for an error. */
static const uint8_t *encode_chunk(Call *call, const uint8_t *start, const uint8_t *text_end)
{
    const uint8_t *is_ordinary = call->kernel->is_ordinary, *at = start, *next;
    Chunk chunk = {start, start, NULL, call->count, call->count, NULL, NULL, 0, 0};
    for (;;) {
        const uint8_t *run = at;
        while (at < text_end && is_ordinary[*at])
            at++;
        if (at > run) {
            if (!chunk.word)
                chunk.word = run;
            chunk.before = at - 1;
            chunk.before_end = at;
            chunk.before_is_plain = 1; /* all ASCII is */
            chunk.combining_class = 0;
        }
        if (at == text_end || *at == ' ')
            break;
        const Char *known = char_at(call, at, &next);
        if (!known)
            return NULL;
        int is_certain = !(known->flags & IS_KEY) && known->kind != HAND_OVER;
        if (is_certain && known->kind == ORDINARY)
            is_certain = stays(call, &chunk, known, at, next);
        if (is_certain < 0)
            return NULL;
        if (!is_certain) {
            at = give_away(call, &chunk, at, text_end, known->flags & IS_KEY);
            if (!at)
                return NULL;
            continue;
        }
        if (known->kind == ORDINARY) {
            if (!chunk.word)
                chunk.word = at;
            pass(&chunk, known, at, next);
        } else if (known->kind != DELETED) {
            if (chunk.word && put_word(call, chunk.word, at, text_end))
                return NULL;
            chunk.word = NULL;
            if (known->kind == ALONE) {
                if (need(call, 1))
                    return NULL;
                call->ids[call->count++] = known->value;
                pass(&chunk, known, at, next);
            }
            if (known->kind == SPACE || known->flags & IS_BOUNDARY)
                set_boundary(call, &chunk, next);
        }
        at = next;
    }
    return chunk.word && put_word(call, chunk.word, at, text_end) ? NULL : at;
}

static int encode_text(Call *call, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *text_end = text + size;
    size_t looked = 0; /* up to here signals have been looked for */
    while (at < text_end) {
        if (*at == ' ') {
            at++;
            continue;
        }
        at = encode_chunk(call, at, text_end);
        if (!at)
            return -1;
        if ((size_t)(at - text) - looked > BYTES_BETWEEN_LOOKS) {
            looked = (size_t)(at - text);
            if (look_for_signals(call))
                return -1;
        }
    }
    return 0;
}

#endif
