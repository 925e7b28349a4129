# Sooth for Nix, from the sources that this file lies in: `nix-build packaging/nix`.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "sooth";
  version = "0.1.0";

  # What the build reads.
  src = pkgs.lib.sourceByRegex ../.. [
    "^(cmake|docs|examples|include|packaging|runtime|src|valgrind)(/.*)?$"
    "^(CMakeLists.txt|LICENSE|README.md|CHANGELOG.md|SECURITY.md)$"
  ];

  nativeBuildInputs = with pkgs; [ cmake ninja pkg-config ];
  buildInputs = with pkgs; [ cli11 elfutils nlohmann_json tomlplusplus xxHash z3 zstd ];

  cmakeFlags = [
    "-DSOOTH_DEVELOPER=OFF"
    "-DSOOTH_WITH_DEEP=OFF" # looks for a clang++-19, which Nix calls otherwise
    "-DSOOTH_VALGRIND=OFF"
    # The tool finds the rest from its own folder: names below it, no absolute paths.
    "-DCMAKE_INSTALL_BINDIR=bin"
    "-DCMAKE_INSTALL_LIBDIR=lib"
    "-DCMAKE_INSTALL_INCLUDEDIR=include"
  ];

  # The run time library is loaded into programs that know nothing of it: no checks in its hooks.
  hardeningDisable = [ "all" ];

  meta = {
    description = "Predicts, proves and replays data races of C and C++ programs";
    license = pkgs.lib.licenses.asl20;
    platforms = [ "x86_64-linux" ];
    mainProgram = "sooth";
  };
}
