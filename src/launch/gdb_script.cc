#include "launch/gdb_script.h"

namespace sooth {
namespace {

// Names of the files that the library goes by: runtime_library.h.
constexpr std::string_view kScript = R"python(import gdb
import os

RUNTIME = ("libtsan.so", "libclang_rt.tsan", "libsooth")
SYSTEM = ("/usr/include/", "/usr/lib/", "/build/", "./nptl/", "../sysdeps/")


def label(number):
    return "main" if number == 0 else "T%d" % number


def word(index):
    return int(gdb.parse_and_eval("((unsigned int*)&__sooth_debugged)[%d]" % index))


class Stop:
    here = None
    other = None
    threads = {}  # our numbers by the kernel's


def read_stop():
    try:
        count = word(2)
    except gdb.error:
        return False
    if count == 0:
        return False
    Stop.here, Stop.other = word(0), word(1)
    Stop.threads = {word(4 + 2 * i): word(3 + 2 * i) for i in range(count)}
    return True


def is_runtime(frame):
    library = os.path.basename(gdb.solib_name(frame.pc()) or "")
    return library.startswith(RUNTIME)


def user_frame():
    """The innermost frame of the user's own source; else the innermost behind the run time library."""
    frame, found = gdb.newest_frame(), None
    while frame is not None:
        if not is_runtime(frame):
            found = found or frame
            table = frame.find_sal().symtab
            if table is not None and not table.fullname().startswith(SYSTEM):
                return frame
        frame = frame.older()
    return found


def select_user_frame():
    frame = user_frame()
    if frame is not None:
        frame.select()


def thread_of(number):
    for thread in gdb.selected_inferior().threads():
        if Stop.threads.get(thread.ptid[1]) == number:
            return thread
    return None


def name_threads():
    for thread in gdb.selected_inferior().threads():
        number = Stop.threads.get(thread.ptid[1])
        if number is not None:
            own = thread.name or ""
            program = os.path.basename(gdb.current_progspace().filename or "")
            thread.name = label(number) if own in ("", program[:15]) else "%s (%s)" % (label(number), own)


def go_to(number):
    thread = thread_of(number)
    if thread is None:
        raise gdb.GdbError("The program does not stand at a race.")
    thread.switch()
    select_user_frame()


def show():
    gdb.execute("frame")


class Sooth(gdb.Command):
    """Looks at the race that the program stands at.
sooth other: go to the thread of the other access
sooth here:  go back to the thread that stopped
sooth both:  the calls of both threads, without the run time library
sooth:       who meets whom"""

    def __init__(self):
        super().__init__("sooth", gdb.COMMAND_STACK)

    def complete(self, text, word):
        return [each for each in ("other", "here", "both") if each.startswith(text)]

    def invoke(self, argument, from_tty):
        if not read_stop():
            raise gdb.GdbError("The program does not stand at a race.")
        if argument == "other":
            go_to(Stop.other)
            show()
        elif argument == "here":
            go_to(Stop.here)
            show()
        elif argument == "both":
            for number in (Stop.here, Stop.other):
                go_to(number)
                print("%s:" % label(number))
                frame = gdb.selected_frame()
                for depth in range(20):
                    place = frame.find_sal()
                    where = "" if place.symtab is None else " at %s:%d" % (place.symtab.filename, place.line)
                    print("  #%d %s()%s" % (depth, frame.name() or "??", where))
                    frame = frame.older()
                    if frame is None:
                        break
            go_to(Stop.here)
        elif argument == "":
            print("sooth: %s meets %s. `sooth other` goes to the other access, `sooth here` back, `sooth both` shows "
                  "both." % (label(Stop.here), label(Stop.other)))
        else:
            raise gdb.GdbError("Try `help sooth`.")


def stopped(event):
    if isinstance(event, gdb.BreakpointEvent) or not read_stop() or not is_runtime(gdb.newest_frame()):
        return
    if Stop.threads.get(gdb.selected_thread().ptid[1]) != Stop.here:
        return
    name_threads()
    select_user_frame()
    gdb.execute("sooth")
    show()


Sooth()
gdb.events.stop.connect(stopped)
)python";

}  // namespace

std::string_view gdb_script() { return kScript; }

}  // namespace sooth
