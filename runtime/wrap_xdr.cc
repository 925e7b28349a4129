// The external data representation of remote procedure calls (libtirpc): what is encoded is read, what is decoded is
// written.
#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// As the headers have it since 1984; only the first member matters.
struct Xdr {
  int operation;
};
constexpr int kEncode = 0, kDecode = 1;

template <typename T>
void before_xdr(const OnBehalf& on, const Xdr* xdr, const T* value) {
  if (on && xdr->operation == kEncode) on.in(value);
}
template <typename T>
void after_xdr(const OnBehalf& on, const Xdr* xdr, const T* value, int done) {
  if (done != 0 && xdr->operation == kDecode) on.out(value);
}

}  // namespace

// Family libc_xdr: one function for each type.
#define SOOTH_XDR(name, type)                                                                     \
  SOOTH_ON_BEHALF(int, name, (Xdr * xdr, type * value), (xdr, value), before_xdr(on, xdr, value), \
                  after_xdr(on, xdr, value, r))
SOOTH_XDR(xdr_bool, int)
SOOTH_XDR(xdr_char, char)
SOOTH_XDR(xdr_double, double)
SOOTH_XDR(xdr_enum, int)
SOOTH_XDR(xdr_float, float)
SOOTH_XDR(xdr_hyper, long long)
SOOTH_XDR(xdr_int, int)
SOOTH_XDR(xdr_int16_t, short)
SOOTH_XDR(xdr_int32_t, int)
SOOTH_XDR(xdr_int64_t, long)
SOOTH_XDR(xdr_int8_t, signed char)
SOOTH_XDR(xdr_long, long)
SOOTH_XDR(xdr_longlong_t, long long)
SOOTH_XDR(xdr_quad_t, long)
SOOTH_XDR(xdr_short, short)
SOOTH_XDR(xdr_u_char, unsigned char)
SOOTH_XDR(xdr_u_hyper, unsigned long long)
SOOTH_XDR(xdr_u_int, unsigned)
SOOTH_XDR(xdr_u_long, unsigned long)
SOOTH_XDR(xdr_u_longlong_t, unsigned long long)
SOOTH_XDR(xdr_u_quad_t, unsigned long)
SOOTH_XDR(xdr_u_short, unsigned short)
SOOTH_XDR(xdr_uint16_t, unsigned short)
SOOTH_XDR(xdr_uint32_t, unsigned)
SOOTH_XDR(xdr_uint64_t, unsigned long)
SOOTH_XDR(xdr_uint8_t, unsigned char)
SOOTH_ON_BEHALF(int, xdr_bytes, (Xdr * xdr, char** bytes, unsigned* length, unsigned limit),
                (xdr, bytes, length, limit), before_xdr(on, xdr, bytes);
                before_xdr(on, xdr, length);
                xdr->operation == kEncode ? on.in(*bytes, *length) : (void)0, after_xdr(on, xdr, bytes, r);
                after_xdr(on, xdr, length, r); if (r != 0 && xdr->operation == kDecode) on.out(*bytes, *length))
SOOTH_ON_BEHALF(int, xdr_string, (Xdr * xdr, char** text, unsigned limit), (xdr, text, limit),
                before_xdr(on, xdr, text);
                xdr->operation == kEncode ? on.text(*text) : (void)0, after_xdr(on, xdr, text, r);
                if (r != 0 && xdr->operation == kDecode) on.out_text(*text))
