# svmx.m4: the few checks that configure.ac needs more than once.
#
# SPDX-License-Identifier: Apache-2.0

# SVMX_CFLAG(VARIABLE, FLAGS): appends FLAGS to VARIABLE if the compiler takes them all without a word. -Werror,
# because clang only warns of an option that it does not know.
AC_DEFUN([SVMX_CFLAG], [
    AC_MSG_CHECKING([whether $CC takes $2])
    svmx_saved_CFLAGS=$CFLAGS
    CFLAGS="-Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
        [AC_MSG_RESULT([yes])
         $1="$$1 $2"],
        [AC_MSG_RESULT([no])])
    CFLAGS=$svmx_saved_CFLAGS
])

# SVMX_HEADER_NUMBER(VARIABLE, HEADER, MACRO): the number that HEADER defines MACRO as. The header is the one place
# where a version stands; what must repeat it reads it from there.
AC_DEFUN([SVMX_HEADER_NUMBER], [
    $1=`sed -n 's/^@%:@define $3 \([[0-9]][[0-9]]*\).*/\1/p' "$srcdir/$2"`
    AS_IF([test -z "$$1"], [AC_MSG_ERROR([$2 does not define $3 as a number])])
])

# SVMX_MODULE(PREFIX, MODULE, REASON-VARIABLE, PACKAGE): an optional library by pkg-config. The reason is empty when it is
# there, else what to say in the summary.
AC_DEFUN([SVMX_MODULE], [
    PKG_CHECK_MODULES([$1], [$2], [$3=], [$3="$4 is not installed"])
])
