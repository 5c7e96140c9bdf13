/* Terms: added tokens of several words, in a tree of the bytes of what they look like in a text.

   In: their forms, sorted. Out: a tree that is walked byte by byte. A walk begins at any place of a text, and most end
   with the first bytes behind a space: "in v" goes on only where "in vitro" is a term. So of each term the first word and
   the four bytes behind it, its edge, are hashed: a filter of all edges rules out most walks before they begin.

   The nodes lie in the order of the sorted forms: the first child of a node is the next one, and leads to the others.
   Where there are many children, a table leads to each. All is made once and only read afterwards. */
#ifndef TRIETOK_KERNEL_TERMS_H
#define TRIETOK_KERNEL_TERMS_H

#include "_kernel_pieces.h"

enum { PLAIN_ERROR = -3 };
enum { ROOT, HAS_CHILD = 1, IS_END = 2, FEW_CHILDREN = 3, NODE_BITS = 26, BEHIND_BITS = 12, SEVERAL = (1 << NODE_BITS) - 1, MOST_NODES = SEVERAL, MOST_TREES = 32, DELETED_FOLD = 0xff };

typedef struct {
    uint32_t sibling, table; /* 0 for none; tables are counted from 1 on */
    uint8_t byte, flags;
} TermNode;

typedef struct {
    TermNode *nodes;
    uint32_t count, room;
    uint32_t *tables, width; /* each of them has so many nodes, one a symbol */
    uint8_t symbols[256];    /* of bytes; 0 of those that are in no term */
    uint8_t is_in_head[256]; /* whether a byte is before the first space of some term */
    uint8_t ends_head[256];  /* whether it is right before a space */
    uint64_t *marks, marks_mask; /* a bit by hash: where it is not set, no term has such bytes before its first space */
    uint64_t *heads, heads_mask; /* by the same hash; 0 for none, see `Head` */
    uint64_t *edges;             /* of each term: see `edge_hash` */
    size_t edge_count;
} Tree;

/* The hash of bytes and one more in front of them. */
static inline uint64_t hash_in_front(uint64_t hash, uint8_t byte) { return (hash + byte + 1) * 0x9e3779b97f4a7c15u; }

static inline uint64_t *head_mark(const Tree *tree, uint64_t hash) { return &tree->marks[hash >> 32 & tree->marks_mask]; }

static inline int may_be_head(const Tree *tree, uint64_t hash) { return *head_mark(tree, hash) >> (hash >> 58) & 1; }

/* A head: the upper bits of its hash, those of the bytes behind it (see `behind_bit`), and the node behind its space;
   SEVERAL where heads have the same upper bits. */
enum { HEAD_SHIFT = NODE_BITS + BEHIND_BITS };
static inline uint32_t node_of_head(uint64_t head) { return head & SEVERAL; }
static inline uint32_t behind_head(uint64_t head) { return head >> NODE_BITS & ((1u << BEHIND_BITS) - 1); }

/* The place of a head in the table, or the empty one where it would be. What has the same upper bits as a head is taken for
   it: then a term is looked for where none stands. */
static inline uint64_t *head_place(const Tree *tree, uint64_t hash)
{
    for (uint64_t at = hash >> 20 & tree->heads_mask;; at = (at + 1) & tree->heads_mask)
        if (!tree->heads[at] || tree->heads[at] >> HEAD_SHIFT == hash >> HEAD_SHIFT)
            return &tree->heads[at];
}

/* The child of a node for a byte; ROOT where there is none. */
static inline uint32_t child_of(const Tree *tree, uint32_t number, uint8_t byte)
{
    const TermNode *node = &tree->nodes[number];
    if (node->table)
        return tree->tables[(size_t)(node->table - 1) * tree->width + tree->symbols[byte]];
    for (number = node->flags & HAS_CHILD ? number + 1 : ROOT; number; number = tree->nodes[number].sibling)
        if (tree->nodes[number].byte == byte)
            return number;
    return ROOT;
}

/* The node behind ASCII, one byte of it at least; ROOT where no form begins so. */
static uint32_t node_behind(const Tree *tree, const uint8_t *folds, const uint8_t *bytes, size_t length)
{
    uint32_t node = child_of(tree, ROOT, folds[*bytes]);
    for (size_t i = 1; i < length && node; i++)
        node = child_of(tree, node, folds[bytes[i]]);
    return node;
}

/* ---- edges: which words begin a term, before which bytes ---------------------------------------------------------- */

enum { EDGE = sizeof(uint32_t), ANY_EDGE = 0 };

/* Letters in one case, and nothing told apart that they are not. */
static const uint64_t IN_ONE_CASE = 0x2020202020202020u;

/* The hash of the key of a word of ASCII, in any case, and of the four bytes behind it and a space; ANY_EDGE in place of
   these where fewer are enough. */
static inline uint64_t edge_hash(Pair key, uint32_t behind)
{
    return mixed((key.low | IN_ONE_CASE) ^ (uint64_t)(behind | (uint32_t)IN_ONE_CASE) * 0x9e3779b97f4a7c15u,
        (key.high | IN_ONE_CASE) ^ 0xe7037ed1a0b428dbu);
}

/* Two bits of the same number. */
static inline uint64_t edge_bits(uint64_t hash) { return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63); }

/* One of as many bits as an entry has for what is behind a word: fewer than edges tell, but at hand. */
static inline uint32_t behind_bit(uint32_t behind)
{
    return 1u << (((behind | (uint32_t)IN_ONE_CASE) * 0x9e3779b1u >> 16) * BEHIND_BITS >> 16);
}

/* Whether four bytes are printable ASCII. */
static inline int are_printable(uint32_t bytes)
{
    return !(((bytes - 0x20202020u) | bytes | (bytes + 0x01010101u)) & 0x80808080u);
}

/* Note the node and the bits of a form's head, which does not end it; and the edge, if the head is a word of ASCII. */
static void add_edge(Tree *tree, const uint8_t *form, size_t length, size_t head, uint64_t hash, uint32_t node)
{
    uint8_t padded[READ_AT_ONCE] = {0};
    uint32_t behind = ANY_EDGE;
    if (length - head > EDGE)
        memcpy(&behind, form + head + 1, EDGE);
    uint64_t *place = head_place(tree, hash);
    uint32_t before = node_of_head(*place), bits = behind == ANY_EDGE ? ANY_BEHIND : behind_bit(behind);
    *place = (hash >> HEAD_SHIFT << HEAD_SHIFT) | (uint64_t)(behind_head(*place) | bits) << NODE_BITS
             | (before && before != node ? SEVERAL : node);
    if (!head || head > LONGEST_SHORT)
        return;
    for (size_t i = 0; i < head; i++)
        if (form[i] >= 0x80)
            return;
    memcpy(padded, form, head);
    tree->edges[tree->edge_count++] = edge_hash(word_key(padded, head), behind);
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

/* Add a form behind those that are less. `path` has the nodes of the one before, whose bytes are `before`. */
static int add_form(Tree *tree, uint32_t *path, const uint8_t *before, size_t before_length, const uint8_t *form,
    size_t length)
{
    size_t common = 0, shorter = length < before_length ? length : before_length;
    while (common < shorter && form[common] == before[common])
        common++;
    if (!length || (common < before_length && (common == length || form[common] < before[common])) || common == length)
        return TOO_LARGE; /* not sorted, or there twice */
    if (tree->count + length > tree->room) {
        size_t room = 2 * (tree->count + length);
        TermNode *nodes = room > MOST_NODES ? NULL : resized(tree->nodes, room * sizeof *nodes);
        if (!nodes)
            return room > MOST_NODES ? TOO_LARGE : NO_MEMORY;
        tree->nodes = nodes;
        tree->room = (uint32_t)room;
    }
    if (common < before_length)
        tree->nodes[path[common + 1]].sibling = tree->count;
    for (size_t at = common; at < length; at++) {
        if (at > common || common == before_length)
            tree->nodes[path[at]].flags |= HAS_CHILD;
        path[at + 1] = tree->count;
        tree->nodes[tree->count++] = (TermNode){0, 0, form[at], 0};
        if (form[at] == ' ' && at)
            tree->ends_head[form[at - 1]] = 1;
        tree->symbols[form[at]] = 1;
    }
    tree->nodes[tree->count - 1].flags |= IS_END;
    size_t head = 0;
    for (; head < length && form[head] != ' '; head++)
        tree->is_in_head[form[head]] = 1;
    uint64_t hash = 0;
    for (size_t at = head; at;)
        hash = hash_in_front(hash, form[--at]);
    *head_mark(tree, hash) |= (uint64_t)1 << (hash >> 58);
    if (head < length)
        add_edge(tree, form, length, head, hash, path[head + 1]);
    return 0;
}

static uint32_t count_children(const Tree *tree, uint32_t number)
{
    uint32_t count = 0, child = tree->nodes[number].flags & HAS_CHILD ? number + 1 : ROOT;
    for (; child; child = tree->nodes[child].sibling)
        count++;
    return count;
}

/* Make the tables of nodes with many children; the root has one in any case. */
static int make_node_tables(Tree *tree)
{
    uint32_t tables = 0;
    tree->width = 1;
    for (int byte = 0; byte < 256; byte++)
        if (tree->symbols[byte])
            tree->symbols[byte] = (uint8_t)tree->width++;
    for (uint32_t number = 0; number < tree->count; number++)
        if (!number || count_children(tree, number) > FEW_CHILDREN)
            tree->nodes[number].table = ++tables;
    tree->tables = new_zeroed((size_t)tables * tree->width, sizeof *tree->tables);
    if (!tree->tables)
        return NO_MEMORY;
    for (uint32_t number = 0; number < tree->count; number++) {
        const TermNode *node = &tree->nodes[number];
        uint32_t child = node->table && node->flags & HAS_CHILD ? number + 1 : ROOT;
        for (; child; child = tree->nodes[child].sibling)
            tree->tables[(size_t)(node->table - 1) * tree->width + tree->symbols[tree->nodes[child].byte]] = child;
    }
    return 0;
}

static void free_tree(Tree *tree)
{
    give_back(tree->nodes);
    give_back(tree->tables);
    give_back(tree->marks);
    give_back(tree->edges);
    give_back(tree->heads);
}

/* Fill a tree with a list of strs. NO_MEMORY, TOO_LARGE, or PLAIN_ERROR for one that Python knows. */
static int fill_tree(Tree *tree, PyObject *forms)
{
    Py_ssize_t count = PyList_Size(forms), size = 0, longest = 0, before_size = 0;
    const char *form, *before = "";
    int result = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyUnicode_AsUTF8AndSize(PyList_GetItem(forms, i), &size))
            return PLAIN_ERROR;
        longest = size > longest ? size : longest;
    }
    uint32_t *path = new_zeroed((size_t)longest + 1, sizeof *path);
    tree->nodes = new_zeroed(1, sizeof *tree->nodes);
    tree->count = tree->room = 1;
    tree->marks_mask = power_of_two((size_t)count / 4, 4) - 1; /* 16 bits a term */
    tree->marks = new_zeroed(tree->marks_mask + 1, sizeof *tree->marks);
    tree->edges = new_zeroed((size_t)count, sizeof *tree->edges);
    tree->heads_mask = power_of_two(2 * (size_t)count, 4) - 1;
    tree->heads = new_zeroed(tree->heads_mask + 1, sizeof *tree->heads);
    if (!path || !tree->nodes || !tree->marks || !tree->edges || !tree->heads)
        result = NO_MEMORY;
    for (Py_ssize_t i = 0; i < count && !result; i++, before = form, before_size = size) {
        form = PyUnicode_AsUTF8AndSize(PyList_GetItem(forms, i), &size);
        result = add_form(tree, path, (const uint8_t *)before, (size_t)before_size, (const uint8_t *)form,
            (size_t)size);
    }
    give_back(path);
    return result ? result : make_node_tables(tree);
}

#endif
