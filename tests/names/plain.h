#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void make_queue(void);
void touch_length(void);
void touch_where(void);

#ifdef __cplusplus
}
#endif
