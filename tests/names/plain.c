/* What C calls by a typedef only. */
#include "plain.h"

#include <stdlib.h>

typedef struct {
  int x, y;
} place_t;

typedef struct {
  struct job* head;
  int length;
  place_t where;
} queue_t;

queue_t* queue;

void make_queue(void) { queue = calloc(1, sizeof *queue); }

void touch_length(void) { queue->length = 1; }

void touch_where(void) { queue->where.y = 1; }
