// Dates, and times as text.
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

// Family libc_calendar: those without _r write into memory that all threads share.
static KeptByLibc date_{"result of localtime() and gmtime()"};
static KeptByLibc date_text_{"result of asctime() and ctime()"};
#define SOOTH_CALENDAR(name) SOOTH_ON_BEHALF(tm*, name, (const time_t* time), (time), on.in(time), on.out(r, date_))
SOOTH_CALENDAR(localtime)
SOOTH_CALENDAR(gmtime)
#define SOOTH_CALENDAR_R(name) \
  SOOTH_ON_BEHALF(tm*, name, (const time_t* time, tm* to), (time, to), on.in(time), on.out(r))
SOOTH_CALENDAR_R(localtime_r)
SOOTH_CALENDAR_R(gmtime_r)
SOOTH_ON_BEHALF(char*, asctime, (const tm* time), (time), on.in(time), on.name(r, date_text_); on.out_text(r))
SOOTH_ON_BEHALF(char*, asctime_r, (const tm* time, char* to), (time, to), on.in(time), on.out_text(r))
SOOTH_ON_BEHALF(char*, ctime, (const time_t* time), (time), on.in(time), on.name(r, date_text_); on.out_text(r))
SOOTH_ON_BEHALF(char*, ctime_r, (const time_t* time, char* to), (time, to), on.in(time), on.out_text(r))
SOOTH_ON_BEHALF(time_t, mktime, (tm * time), (time), on.in(time), if (r != -1) on.out(time))
SOOTH_ON_BEHALF(time_t, timegm, (tm * time), (time), on.in(time), if (r != -1) on.out(time))
SOOTH_ON_BEHALF(std::size_t, strftime, (char* to, std::size_t n, const char* format, const tm* time),
                (to, n, format, time), on.text(format);
                on.in(time), if (r != 0) on.out(to, r + 1))
SOOTH_ON_BEHALF(char*, strptime, (const char* s, const char* format, tm* to), (s, format, to), on.text(s);
                on.text(format), if (r != nullptr) on.out(to))
SOOTH_ON_BEHALF(int, ftime, (timeb * to), (to), (void)0, on.out(to))
SOOTH_ON_BEHALF(int, clock_settime, (clockid_t clock, const timespec* time), (clock, time), on.in(time))
SOOTH_ON_BEHALF(int, clock_getcpuclockid, (pid_t process, clockid_t* to), (process, to), (void)0,
                if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, getitimer, (int which, itimerval* to), (which, to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, setitimer, (int which, const itimerval* time, itimerval* old), (which, time, old), on.in(time),
                if (r == 0) on.out(old))
SOOTH_ON_BEHALF(int, timerfd_gettime, (int fd, itimerspec* to), (fd, to), (void)0, if (r == 0) on.out(to))
