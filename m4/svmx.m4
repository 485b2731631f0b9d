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
    $1=`sed -n 's/^@%:@define $3  *\([[0-9]][[0-9]]*\).*/\1/p' "$srcdir/$2"`
    AS_IF([test -z "$$1"], [AC_MSG_ERROR([$2 does not define $3 as a number])])
])

# SVMX_OPERATION_LIBRARY(PREFIX, NAME, MODULE, PACKAGE, INCLUDES, BODY): an optional library that operations are built on.
# It must be known to pkg-config and a program with INCLUDES and BODY must link. Sets NAME_reason (empty when it is there),
# the condition HAVE_PREFIX, PREFIX_CFLAGS with -DSVMX_HAVE_PREFIX, PREFIX_LIBS, and adds MODULE to SVMX_PC_REQUIRES.
AC_DEFUN([SVMX_OPERATION_LIBRARY], [
    $2_reason="switched off"
    AS_IF([test "x$with_$2" != xno], [SVMX_MODULE([$1], [$3], [$2_reason], [$4])])
    AS_IF([test -z "$$2_reason"],
        [AC_MSG_CHECKING([whether programs link with $2])
         svmx_saved_CFLAGS=$CFLAGS svmx_saved_LIBS=$LIBS
         CFLAGS="$CFLAGS $$1_CFLAGS" LIBS="$$1_LIBS $LIBS"
         AC_LINK_IFELSE([AC_LANG_PROGRAM([$5], [$6])], [AC_MSG_RESULT([yes])],
             [AC_MSG_RESULT([no])
              $2_reason="the library that pkg-config names does not link, or lacks what is needed"])
         CFLAGS=$svmx_saved_CFLAGS LIBS=$svmx_saved_LIBS])
    AS_IF([test "x$with_$2" = xyes && test -n "$$2_reason"], [AC_MSG_ERROR([--with-$2: $$2_reason])])
    AS_IF([test -z "$$2_reason"],
        [$1_CFLAGS="$$1_CFLAGS -DSVMX_HAVE_$1"
         SVMX_PC_REQUIRES="$SVMX_PC_REQUIRES${SVMX_PC_REQUIRES:+, }$3"],
        [$1_CFLAGS= $1_LIBS=])
    AM_CONDITIONAL([HAVE_$1], [test -z "$$2_reason"])
])

# SVMX_MODULE(PREFIX, MODULE, REASON-VARIABLE, PACKAGE): an optional library by pkg-config. The reason is empty when it is
# there, else what to say in the summary.
AC_DEFUN([SVMX_MODULE], [
    PKG_CHECK_MODULES([$1], [$2], [$3=], [$3="$4 is not installed"])
])
