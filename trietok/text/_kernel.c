/* The compiled kernel: texts → ids, for what can be told of each character by itself.

   In: texts, and Python functions to ask. Out: ids, as lists or as rows in one buffer.

   The kernel knows no Unicode. It asks Python once what becomes of a code point (`classify`), and whether two that
   might compose stay apart (`stay_apart`). A chunk between spaces of which that does not tell all goes to Python as a
   whole (`hand_over`); so does a chunk that holds a key character of an added token. So there is one set of rules, and
   Python has it. What words and handed-over chunks became is remembered; see `_kernel_memory.h`.

   Threads: a kernel's lock guards what it remembers. The lock is not held while Python is asked, so Python may call the
   kernel again; and no thread waits for it with the GIL in hand, so no two threads wait for each other. A batch is
   encoded without the GIL. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <structmember.h>

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

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    int32_t *ids;
    size_t *starts, *ends; /* of each row in `ids` */
    Py_ssize_t count;
} Rows;

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

/* ---- lists of ints ------------------------------------------------------------------------------------------------ */

/* A new reference to the int of an id; those of small ids are made once. */
static PyObject *number_of(Kernel *kernel, int32_t id)
{
    if ((size_t)id >= kernel->numbers_size)
        return PyLong_FromLong(id);
    PyObject *number = kernel->numbers[id];
    if (!number) {
        number = kernel->numbers[id] = PyLong_FromLong(id);
        if (!number)
            return NULL;
    }
    Py_INCREF(number);
    return number;
}

/* Put the items of `from`, a list or NULL, into `list` from `at` on. Returns where they end. */
static Py_ssize_t put_items(PyObject *list, Py_ssize_t at, PyObject *from)
{
    Py_ssize_t count = from ? PyList_Size(from) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(from, i);
        Py_INCREF(item);
        PyList_SetItem(list, at++, item);
    }
    return at;
}

/* A list of ids between those of two other lists, which may be NULL. */
static PyObject *list_of(Kernel *kernel, PyObject *front, const int32_t *ids, size_t count, PyObject *back)
{
    Py_ssize_t around = (front ? PyList_Size(front) : 0) + (back ? PyList_Size(back) : 0);
    PyObject *list = PyList_New((Py_ssize_t)count + around);
    if (!list)
        return NULL;
    Py_ssize_t at = put_items(list, 0, front);
    for (size_t i = 0; i < count; i++) {
        PyObject *number = number_of(kernel, ids[i]);
        if (!number) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, at++, number);
    }
    put_items(list, at, back);
    return list;
}

/* The ids that Python's plain way gives, between those of two lists. */
static PyObject *plain_list(Kernel *kernel, PyObject *front, PyObject *text, PyObject *back)
{
    PyObject *ids = PyObject_CallFunctionObjArgs(kernel->plain, text, NULL);
    if (!ids || !(front || back))
        return ids;
    PyObject *whole = NULL;
    if (!PyList_Check(ids))
        PyErr_SetString(PyExc_TypeError, "the plain way must give a list");
    else
        whole = PyList_New((front ? PyList_Size(front) : 0) + PyList_Size(ids) + (back ? PyList_Size(back) : 0));
    if (whole)
        put_items(whole, put_items(whole, put_items(whole, 0, front), ids), back);
    Py_DECREF(ids);
    return whole;
}

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

static int is_list_or_absent(PyObject *around)
{
    if (!around || PyList_Check(around))
        return 1;
    PyErr_SetString(PyExc_TypeError, "the ids around a text are a list");
    return 0;
}

PyDoc_STRVAR(ids_doc, "ids(text, front=[], back=[], /)\n--\n\nThe ids of a text between those of two lists.");

static PyObject *Kernel_ids(Kernel *kernel, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 1 && count != 3) {
        PyErr_SetString(PyExc_TypeError, "ids takes a text, and two lists of ids or none");
        return NULL;
    }
    PyObject *text = arguments[0], *front = count == 3 ? arguments[1] : NULL, *back = count == 3 ? arguments[2] : NULL;
    if (!is_list_or_absent(front) || !is_list_or_absent(back))
        return NULL;
    size_t size;
    const uint8_t *bytes = utf8_of(text, &size);
    if (!bytes)
        return PyErr_Occurred() ? NULL : plain_list(kernel, front, text, back);
    Call call;
    begin(&call, kernel, 0);
    int failed = encode_text(&call, bytes, size) != 0;
    PyThread_release_lock(kernel->lock);
    PyObject *list = failed ? NULL : list_of(kernel, front, call.ids, call.count, back);
    end(&call);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    return list;
}

/* ---- rows: the ids of many texts in one buffer --------------------------------------------------------------------- */

static PyTypeObject *type_of_rows(PyObject *kernel);

static void Rows_dealloc(Rows *rows)
{
    PyTypeObject *type = Py_TYPE((PyObject *)rows);
    Py_XDECREF((PyObject *)rows->kernel);
    give_back(rows->ids);
    give_back(rows->starts);
    give_back(rows->ends);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(rows);
    Py_DECREF(type);
}

static size_t row_length(const Rows *rows, Py_ssize_t row) { return rows->ends[row] - rows->starts[row]; }

PyDoc_STRVAR(lengths_doc, "lengths()\n--\n\nHow many ids each row has.");

static PyObject *Rows_lengths(Rows *rows, PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(rows->count);
    for (Py_ssize_t row = 0; list && row < rows->count; row++) {
        PyObject *length = PyLong_FromSize_t(row_length(rows, row));
        if (length)
            PyList_SetItem(list, row, length);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyDoc_STRVAR(cut_doc, "cut(room, from_left, /)\n--\n\nCut each row to at most so many ids, at its beginning or its end.");

static PyObject *Rows_cut(Rows *rows, PyObject *arguments)
{
    Py_ssize_t room;
    int from_left;
    if (!PyArg_ParseTuple(arguments, "np", &room, &from_left))
        return NULL;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        if (room < 0 || row_length(rows, row) <= (size_t)room)
            continue;
        if (from_left)
            rows->starts[row] = rows->ends[row] - (size_t)room;
        else
            rows->ends[row] = rows->starts[row] + (size_t)room;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(lists_doc, "lists(front, back, /)\n--\n\nEach row as a list of ids between those of two lists.");

static PyObject *Rows_lists(Rows *rows, PyObject *arguments)
{
    PyObject *front, *back;
    if (!PyArg_ParseTuple(arguments, "OO", &front, &back) || !is_list_or_absent(front) || !is_list_or_absent(back))
        return NULL;
    PyObject *lists = PyList_New(rows->count);
    for (Py_ssize_t row = 0; lists && row < rows->count; row++) {
        PyObject *list = list_of(rows->kernel, front, rows->ids + rows->starts[row], row_length(rows, row), back);
        if (list)
            PyList_SetItem(lists, row, list);
        else
            Py_CLEAR(lists);
    }
    return lists;
}

typedef struct {
    size_t width;
    const char *front, *back; /* int64 numbers */
    Py_ssize_t front_size, back_size;
    int64_t padding;
    int pads_left;
} Shape;

static int64_t *fill_with(int64_t *to, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        *to++ = number;
    return to;
}

static void fill_row(const Rows *rows, Py_ssize_t row, const Shape *shape, int64_t *to)
{
    const int32_t *ids = rows->ids + rows->starts[row];
    size_t length = row_length(rows, row), front = (size_t)shape->front_size / 8, back = (size_t)shape->back_size / 8,
           missing = shape->width - length - front - back;
    if (shape->pads_left)
        to = fill_with(to, missing, shape->padding);
    memcpy(to, shape->front, front * 8);
    to += front;
    for (size_t i = 0; i < length; i++)
        *to++ = ids[i];
    memcpy(to, shape->back, back * 8);
    if (!shape->pads_left)
        fill_with(to + back, missing, shape->padding);
}

PyDoc_STRVAR(int64_doc,
    "int64(width, front, back, padding, pads_left, /)\n--\n\n"
    "All rows as int64 of one width, each between what is in `front` and `back`, with padding for what it lacks.");

static PyObject *Rows_int64(Rows *rows, PyObject *arguments)
{
    Shape shape;
    Py_ssize_t width;
    long long padding;
    if (!PyArg_ParseTuple(arguments, "ny#y#Lp", &width, &shape.front, &shape.front_size, &shape.back,
            &shape.back_size, &padding, &shape.pads_left))
        return NULL;
    size_t around = (size_t)shape.front_size / 8 + (size_t)shape.back_size / 8;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        if (width < 0 || row_length(rows, row) + around > (size_t)width) {
            PyErr_SetString(PyExc_ValueError, "a row is longer than the width");
            return NULL;
        }
    }
    if (width && rows->count > PY_SSIZE_T_MAX / 8 / width)
        return PyErr_NoMemory();
    shape.width = (size_t)width;
    shape.padding = padding;
    PyObject *array = PyByteArray_FromStringAndSize(NULL, rows->count * width * 8);
    if (!array)
        return NULL;
    int64_t *numbers = (int64_t *)(void *)PyByteArray_AsString(array);
    for (Py_ssize_t row = 0; row < rows->count; row++)
        fill_row(rows, row, &shape, numbers + row * width);
    return array;
}

static Rows *new_rows(Kernel *kernel, Py_ssize_t count)
{
    PyTypeObject *type = type_of_rows((PyObject *)kernel);
    Rows *rows = type ? (Rows *)PyType_GenericAlloc(type, 0) : NULL;
    if (!rows)
        return NULL;
    Py_INCREF((PyObject *)kernel);
    rows->kernel = kernel;
    rows->count = count;
    rows->starts = new_zeroed((size_t)count, sizeof *rows->starts);
    rows->ends = new_zeroed((size_t)count, sizeof *rows->ends);
    if (rows->starts && rows->ends)
        return rows;
    Py_DECREF((PyObject *)rows);
    PyErr_NoMemory();
    return NULL;
}

/* A text of a batch: its UTF-8; `bytes` is NULL where Python's plain way has to encode it. */
typedef struct {
    PyObject *text;
    const uint8_t *bytes;
    size_t size;
} Item;

/* The items of a tuple, which must outlive them. */
static Item *items_of(PyObject *texts, Py_ssize_t count)
{
    Item *items = new_zeroed((size_t)count, sizeof *items);
    if (!items)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; items && i < count; i++) {
        items[i].text = PyTuple_GetItem(texts, i);
        items[i].bytes = utf8_of(items[i].text, &items[i].size);
        if (!items[i].bytes && PyErr_Occurred()) {
            give_back(items);
            items = NULL;
        }
    }
    return items;
}

static int encode_plainly(Call *call, PyObject *text)
{
    enter_python(call);
    PyObject *ids = PyObject_CallFunctionObjArgs(call->kernel->plain, text, NULL);
    int result = take_ids(call, ids);
    Py_XDECREF(ids);
    leave_python(call);
    return result;
}

static int encode_items(Call *call, const Item *items, Rows *rows)
{
    size_t read = 0;
    for (Py_ssize_t row = 0; row < rows->count; row++) {
        const Item *item = &items[row];
        rows->starts[row] = call->count;
        if (item->bytes ? encode_text(call, item->bytes, item->size) : encode_plainly(call, item->text))
            return -1;
        rows->ends[row] = call->count;
        read += item->size;
        if (read > BYTES_BETWEEN_LOOKS) {
            read = 0;
            if (look_for_signals(call))
                return -1;
        }
    }
    return 0;
}

/* Give the ids of a call to rows. */
static int keep_ids(Call *call, Rows *rows)
{
    if (call->ids == call->ids_at_hand && widen(call, 0))
        return -1;
    rows->ids = call->ids;
    call->ids = call->ids_at_hand;
    return 0;
}

PyDoc_STRVAR(rows_doc, "rows(texts, /)\n--\n\nThe ids of each text, worked out without the GIL.");

static PyObject *Kernel_rows(Kernel *kernel, PyObject *sequence)
{
    PyObject *texts = PySequence_Tuple(sequence);
    if (!texts)
        return NULL;
    Py_ssize_t count = PyTuple_Size(texts);
    Item *items = items_of(texts, count);
    Rows *rows = items ? new_rows(kernel, count) : NULL;
    if (rows) {
        Call call;
        begin(&call, kernel, 1);
        int failed = encode_items(&call, items, rows) != 0 || keep_ids(&call, rows);
        PyThread_release_lock(kernel->lock);
        PyEval_RestoreThread(call.released);
        end(&call);
        if (failed) {
            if (!PyErr_Occurred())
                PyErr_NoMemory();
            Py_DECREF((PyObject *)rows);
            rows = NULL;
        }
    }
    give_back(items);
    Py_DECREF(texts);
    return (PyObject *)rows;
}

/* ---- the rest of the kernel ---------------------------------------------------------------------------------------- */

PyDoc_STRVAR(info_doc, "info()\n--\n\nHow many words and chunks are remembered, in how many bytes, and more.");

static PyObject *Kernel_info(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    unsigned long long words = kernel->memory.words, chunks = kernel->memory.chunks,
                       bytes = memory_bytes(&kernel->memory) + kernel->char_bytes,
                       times_full = kernel->memory.times_full, handed_over = kernel->handed_over;
    PyThread_release_lock(kernel->lock);
    return Py_BuildValue("{sKsKsKsKsK}", "words", words, "chunks", chunks, "bytes", bytes, "times_full", times_full,
        "handed_over", handed_over);
}

PyDoc_STRVAR(forget_doc, "forget()\n--\n\nForget what words and chunks became.");

static PyObject *Kernel_forget(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    int failed = forget_all(&kernel->memory);
    PyThread_release_lock(kernel->lock);
    if (failed)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(hold_doc, "hold()\n--\n\nWait until nobody works with the kernel, and let nobody: until `release`.");

static PyObject *Kernel_hold(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    lock_kernel(kernel, 1);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(release_doc, "release()\n--\n\nUndo `hold`.");

static PyObject *Kernel_release(Kernel *kernel, PyObject *Py_UNUSED(ignored))
{
    PyThread_release_lock(kernel->lock);
    Py_RETURN_NONE;
}

static int Kernel_traverse(Kernel *kernel, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)kernel));
    Py_VISIT(kernel->vocabulary);
    Py_VISIT(kernel->classify);
    Py_VISIT(kernel->stay_apart);
    Py_VISIT(kernel->hand_over);
    Py_VISIT(kernel->plain);
    return 0;
}

static int Kernel_clear(Kernel *kernel)
{
    Py_CLEAR(kernel->classify);
    Py_CLEAR(kernel->stay_apart);
    Py_CLEAR(kernel->hand_over);
    Py_CLEAR(kernel->plain);
    return 0;
}

static void Kernel_dealloc(Kernel *kernel)
{
    PyTypeObject *type = Py_TYPE((PyObject *)kernel);
    PyObject_GC_UnTrack(kernel);
    if (kernel->weak_references)
        PyObject_ClearWeakRefs((PyObject *)kernel);
    Kernel_clear(kernel);
    Py_XDECREF(kernel->vocabulary);
    for (size_t i = 0; i < kernel->numbers_size; i++)
        Py_XDECREF(kernel->numbers[i]);
    for (size_t i = 0; i < PAGES; i++)
        give_back(kernel->pages[i]);
    give_back(kernel->numbers);
    give_back(kernel->outputs);
    free_memory(&kernel->memory);
    if (kernel->lock)
        PyThread_free_lock(kernel->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(kernel);
    Py_DECREF(type);
}

enum { NUMBERS_KEPT = 1 << 17, FIRST_OUTPUTS = 4096 };

static int set_up(Kernel *kernel, size_t limit, const char *seed)
{
    memcpy(kernel->memory.seed, seed, sizeof kernel->memory.seed);
    kernel->memory.seed[1] |= 1;
    kernel->limit = limit;
    kernel->lock = PyThread_allocate_lock();
    kernel->outputs = new_zeroed(FIRST_OUTPUTS, 1);
    kernel->numbers = new_zeroed(NUMBERS_KEPT, sizeof *kernel->numbers);
    if (!kernel->lock || !kernel->outputs || !kernel->numbers || forget_all(&kernel->memory))
        return -1;
    kernel->outputs_size = FIRST_OUTPUTS;
    kernel->numbers_size = NUMBERS_KEPT;
    return reserve(kernel, FIRST_OUTPUTS) ? 0 : -1;
}

PyDoc_STRVAR(kernel_doc,
    "Kernel(vocabulary, classify, stay_apart, hand_over, plain, limit, seed, /)\n--\n\n"
    "Texts to ids.\n\n"
    "Args:\n"
    "    vocabulary: a `Vocabulary`.\n"
    "    classify: code point -> (kind, combining class, flags, UTF-8 of what it becomes in a word).\n"
    "    stay_apart: two characters -> whether normalization leaves them as they are.\n"
    "    hand_over: chunk -> its ids.\n"
    "    plain: text -> the list of its ids.\n"
    "    limit: how many bytes may be remembered.\n"
    "    seed: 16 random bytes.");

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords));

/* ---- the vocabulary ------------------------------------------------------------------------------------------------ */

static int add_entries(Pieces *pieces, PyObject *entries, PyObject *ids, const char *prefix, size_t prefix_length)
{
    Py_ssize_t count = PyList_Size(entries);
    for (Py_ssize_t i = 0; i < count && i < PyList_Size(ids); i++) {
        size_t length;
        const uint8_t *entry = utf8_of(PyList_GetItem(entries, i), &length);
        long long id = PyLong_AsLongLong(PyList_GetItem(ids, i));
        if (PyErr_Occurred())
            return -1;
        if (id < 0 || id > INT32_MAX)
            return -2;
        if (!entry) /* no text of UTF-8 holds half a surrogate pair */
            continue;
        int result = add_entry(pieces, FRONT, entry, length, (int32_t)id);
        if (!result && length > prefix_length && !memcmp(entry, prefix, prefix_length))
            result = add_entry(pieces, REST, entry + prefix_length, length - prefix_length, (int32_t)id);
        if (result)
            return result;
    }
    return 0;
}

PyDoc_STRVAR(vocabulary_doc,
    "Vocabulary(entries, ids, prefix, unknown, longest_word, /)\n--\n\n"
    "The entries of a vocabulary, to cut words into. ValueError for entries or ids that are too large.");

static PyObject *Vocabulary_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *entries, *ids;
    const char *prefix;
    Py_ssize_t prefix_length, longest_word;
    int unknown;
    if (!PyArg_ParseTuple(arguments, "O!O!s#in", &PyList_Type, &entries, &PyList_Type, &ids, &prefix, &prefix_length,
            &unknown, &longest_word))
        return NULL;
    Vocabulary *vocabulary = (Vocabulary *)PyType_GenericAlloc(type, 0);
    if (!vocabulary)
        return NULL;
    vocabulary->pieces.unknown = unknown;
    vocabulary->pieces.longest_word = longest_word < 0 ? 0 : (uint64_t)longest_word;
    int result = grow_edges(&vocabulary->pieces, (size_t)PyList_Size(entries));
    if (!result)
        result = add_entries(&vocabulary->pieces, entries, ids, prefix, (size_t)prefix_length);
    if (!result && unknown >= 0)
        return (PyObject *)vocabulary;
    Py_DECREF((PyObject *)vocabulary);
    if (PyErr_Occurred())
        return NULL;
    if (result == -1)
        return PyErr_NoMemory();
    PyErr_SetString(PyExc_ValueError, "no kernel for this vocabulary: an entry or an id is too large");
    return NULL;
}

static void Vocabulary_dealloc(Vocabulary *vocabulary)
{
    PyTypeObject *type = Py_TYPE((PyObject *)vocabulary);
    give_back(vocabulary->pieces.edges);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(vocabulary);
    Py_DECREF(type);
}

/* ---- the module ---------------------------------------------------------------------------------------------------- */

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, (void *)vocabulary_doc},
    {Py_tp_new, Vocabulary_new},
    {Py_tp_dealloc, Vocabulary_dealloc},
    {0, NULL},
};
static PyType_Spec vocabulary_spec = {
    .name = "trietok.text._kernel.Vocabulary",
    .basicsize = sizeof(Vocabulary),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = vocabulary_slots,
};

static PyMethodDef rows_methods[] = {
    {"lengths", FUNCTION(Rows_lengths), METH_NOARGS, lengths_doc},
    {"cut", FUNCTION(Rows_cut), METH_VARARGS, cut_doc},
    {"lists", FUNCTION(Rows_lists), METH_VARARGS, lists_doc},
    {"int64", FUNCTION(Rows_int64), METH_VARARGS, int64_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot rows_slots[] = {
    {Py_tp_methods, rows_methods},
    {Py_tp_dealloc, Rows_dealloc},
    {0, NULL},
};
static PyType_Spec rows_spec = {
    .name = "trietok.text._kernel.Rows",
    .basicsize = sizeof(Rows),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = rows_slots,
};

static PyMethodDef kernel_methods[] = {
    {"ids", FUNCTION(Kernel_ids), METH_FASTCALL, ids_doc},
    {"rows", FUNCTION(Kernel_rows), METH_O, rows_doc},
    {"info", FUNCTION(Kernel_info), METH_NOARGS, info_doc},
    {"forget", FUNCTION(Kernel_forget), METH_NOARGS, forget_doc},
    {"hold", FUNCTION(Kernel_hold), METH_NOARGS, hold_doc},
    {"release", FUNCTION(Kernel_release), METH_NOARGS, release_doc},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef kernel_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Kernel, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_members, kernel_members},
    {Py_tp_doc, (void *)kernel_doc},
    {Py_tp_new, Kernel_new},
    {Py_tp_dealloc, Kernel_dealloc},
    {Py_tp_traverse, Kernel_traverse},
    {Py_tp_clear, Kernel_clear},
    {Py_tp_methods, kernel_methods},
    {0, NULL},
};
static PyType_Spec kernel_spec = {
    .name = "trietok.text._kernel.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = kernel_slots,
};

typedef struct {
    PyTypeObject *vocabulary, *rows;
} State;

static PyTypeObject *type_of_rows(PyObject *kernel)
{
    State *state = PyType_GetModuleState(Py_TYPE(kernel));
    return state ? state->rows : NULL;
}

static PyObject *Kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    State *state = PyType_GetModuleState(type);
    PyObject *vocabulary, *classify, *stay_apart, *hand_over, *plain;
    const char *seed;
    Py_ssize_t seed_length, limit;
    if (!state
        || !PyArg_ParseTuple(arguments, "O!OOOOny#", state->vocabulary, &vocabulary, &classify, &stay_apart,
            &hand_over, &plain, &limit, &seed, &seed_length))
        return NULL;
    if (seed_length != 16 || limit < LEAST_LIMIT || (size_t)limit > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a seed has 16 bytes, and a limit is from 256 KiB to 4 GiB");
        return NULL;
    }
    Kernel *kernel = (Kernel *)PyType_GenericAlloc(type, 0);
    if (!kernel)
        return NULL;
    kernel->vocabulary = Py_NewRef(vocabulary);
    kernel->classify = Py_NewRef(classify);
    kernel->stay_apart = Py_NewRef(stay_apart);
    kernel->hand_over = Py_NewRef(hand_over);
    kernel->plain = Py_NewRef(plain);
    if (set_up(kernel, (size_t)limit, seed)) {
        Py_DECREF((PyObject *)kernel);
        return PyErr_NoMemory();
    }
    return (PyObject *)kernel;
}

#ifdef TRIETOK_FAILING_ALLOCATOR
static PyObject *fail_allocation(PyObject *Py_UNUSED(module), PyObject *number)
{
    allocations_until_failure = PyLong_AsLongLong(number);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *count_alive(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLongLong(allocations_alive);
}
#endif

static PyMethodDef module_functions[] = {
#ifdef TRIETOK_FAILING_ALLOCATOR
    {"fail_allocation", fail_allocation, METH_O, "Let an allocation fail once, after so many; -1 for none."},
    {"count_alive", count_alive, METH_NOARGS, "How many allocations have not been given back."},
#endif
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, type))
        Py_CLEAR(type);
    return type;
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->vocabulary = add_type(module, &vocabulary_spec);
    state->rows = state->vocabulary ? add_type(module, &rows_spec) : NULL;
    PyTypeObject *kernel = state->rows ? add_type(module, &kernel_spec) : NULL;
    Py_XDECREF((PyObject *)kernel);
    static const char *const kinds[] = {"UNASKED", "ORDINARY", "DELETED", "SPACE", "ALONE", "HAND_OVER"};
    for (int kind = 0; kernel && kind < KINDS; kind++)
        if (PyModule_AddIntConstant(module, kinds[kind], kind))
            return -1;
    return kernel ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->vocabulary);
        Py_VISIT(state->rows);
    }
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (state) {
        Py_CLEAR(state->vocabulary);
        Py_CLEAR(state->rows);
    }
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "trietok.text._kernel",
    .m_doc = "The compiled kernel of trietok.text.chunk_encoder; see trietok.text.kernel.",
    .m_size = sizeof(State),
    .m_methods = module_functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module_definition); }
