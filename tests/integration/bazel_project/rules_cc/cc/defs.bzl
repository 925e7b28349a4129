"""The rules for C++ that are part of Bazel 4, under the names by which its own packages load them.

Bazel would fetch them from the network, and those that Debian packages are for later versions.
"""
cc_binary = native.cc_binary
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
objc_library = native.objc_library
