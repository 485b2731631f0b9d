/*
 * sanitized.h: is this built with a sanitizer? gcc and clang say so in two ways.
 *
 *   UNDER_ADDRESS_SANITIZER  UNDER_THREAD_SANITIZER  UNDER_SANITIZER (one of these, or of memory)    0 or 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

/* clang; no && with what follows: a gcc that does not know it would not get past its brackets */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#if __has_feature(memory_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) && !defined(UNDER_ADDRESS_SANITIZER)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(UNDER_THREAD_SANITIZER)
#define UNDER_THREAD_SANITIZER 1
#endif

#ifndef UNDER_ADDRESS_SANITIZER
#define UNDER_ADDRESS_SANITIZER 0
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER 0
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER (UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER)
#endif

#endif
