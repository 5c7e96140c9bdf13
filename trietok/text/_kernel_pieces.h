/* WordPiece: the longest entry at the front of a word, then at the front of the rest, and so on.

   In: the entries of a vocabulary with their ids, then words of UTF-8. Out: the ids of their pieces.

   Two prefix tries, of what may begin a word and of what may continue one, are one hash table of edges: a node and a
   byte → the next node and the id of the entry that ends there. What is compared are whole keys, never hashes alone.
   The tries are made once and only read afterwards, so any number of kernels and threads may share them. */
#ifndef TRIETOK_KERNEL_PIECES_H
#define TRIETOK_KERNEL_PIECES_H

#include "_kernel_memory.h"

enum { FRONT = 0, REST = 1, MOST_NODES = 1 << 24, LONGEST_ENTRY = 1024, EDGES_PER_ENTRY = 6, NO_ID = -1 };

typedef struct {
    uint32_t from; /* the node, and the byte in the last 8 bits */
    uint32_t to;   /* 0 for an empty place: no edge leads to `FRONT` */
    int32_t id;    /* of the entry that ends there, or `NO_ID` */
} Edge;

typedef struct {
    Edge *edges;
    uint32_t mask, used;
    int32_t unknown;
    uint64_t longest_word; /* code points */
} Pieces;

static inline uint32_t edge_place(const Pieces *pieces, uint32_t from)
{
    return (uint32_t)((from * (uint64_t)0x9e3779b97f4a7c15u) >> 32) & pieces->mask;
}

static inline Edge *edge_of(const Pieces *pieces, uint32_t from)
{
    for (uint32_t place = edge_place(pieces, from);; place = (place + 1) & pieces->mask) {
        Edge *edge = &pieces->edges[place];
        if (!edge->to || edge->from == from)
            return edge;
    }
}

/* Make room for twice the edges, or first for those of so many entries. */
static int grow_edges(Pieces *pieces, size_t entries)
{
    size_t before = pieces->edges ? (size_t)pieces->mask + 1 : 0, after = before ? 2 * before : 1024;
    while (after < EDGES_PER_ENTRY * entries && after < MOST_NODES)
        after *= 2;
    Edge *old = pieces->edges, *edges = new_zeroed(after, sizeof(Edge));
    if (!edges)
        return -1;
    pieces->edges = edges;
    pieces->mask = (uint32_t)(after - 1);
    for (size_t i = 0; i < before; i++)
        if (old[i].to)
            *edge_of(pieces, old[i].from) = old[i];
    give_back(old);
    return 0;
}

/* -1 for no memory, -2 for more entries than nodes can be numbered, or too long a one. */
static int add_entry(Pieces *pieces, uint32_t root, const uint8_t *bytes, size_t length, int32_t id)
{
    uint32_t node = root;
    Edge *edge = NULL;
    if (length > LONGEST_ENTRY)
        return -2;
    for (size_t i = 0; i < length; i++) {
        if (2 * (uint64_t)pieces->used >= pieces->mask && grow_edges(pieces, 0))
            return -1;
        uint32_t from = node << 8 | bytes[i];
        edge = edge_of(pieces, from);
        if (!edge->to) {
            if (pieces->used + 2 >= MOST_NODES)
                return -2;
            *edge = (Edge){from, REST + ++pieces->used, NO_ID};
        }
        node = edge->to;
    }
    if (edge)
        edge->id = id;
    return 0;
}

/* The longest entry at the front of what is left of a word; `*end` is set to behind it. */
static int32_t longest_entry(const Pieces *pieces, uint32_t node, const uint8_t *at, const uint8_t **end)
{
    const uint8_t *word_end = *end;
    int32_t id = NO_ID;
    for (; at < word_end; at++) {
        const Edge *edge = edge_of(pieces, node << 8 | *at);
        if (!edge->to)
            break;
        node = edge->to;
        if (edge->id != NO_ID) {
            id = edge->id;
            *end = at + 1;
        }
    }
    return id;
}

/* The ids of a word that is not empty; there is room for as many as it has bytes. Returns how many there are. */
static size_t ids_of_word(const Pieces *pieces, const uint8_t *word, size_t length, size_t code_points, int32_t *ids)
{
    size_t count = 0;
    if (code_points <= pieces->longest_word) {
        for (const uint8_t *at = word; at < word + length;) {
            const uint8_t *end = word + length;
            int32_t id = longest_entry(pieces, at == word ? FRONT : REST, at, &end);
            if (id == NO_ID) {
                count = 0;
                break;
            }
            ids[count++] = id;
            at = end;
        }
    }
    if (!count)
        ids[count++] = pieces->unknown;
    return count;
}

#endif
