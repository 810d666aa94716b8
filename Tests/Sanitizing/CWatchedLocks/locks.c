// Tells ThreadSanitizer of locks that it does not see. A `Mutex` that is free is taken by an atomic operation, which it watches;
// one for which a thread waits passes through Synchronization's own code and the kernel, which it does not, so that it would report
// what the lock protects as a race. The three slow paths are therefore wrapped here under their own names, and announced.
#if defined(__linux__) && __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *lock);
void __tsan_release(void *lock);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*Lock)(uint32_t thread, SELF lock);
typedef SWIFT bool (*TryLock)(SELF lock);
typedef SWIFT void (*Unlock)(SELF lock);

SWIFT void lock_slowly(uint32_t thread, SELF lock) __asm__(LOCK);
SWIFT bool try_lock_slowly(SELF lock) __asm__(TRY_LOCK);
SWIFT void unlock_slowly(SELF lock) __asm__(UNLOCK);

SWIFT void lock_slowly(uint32_t thread, SELF lock) {
    ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, lock);
    __tsan_acquire(lock);
}

SWIFT bool try_lock_slowly(SELF lock) {
    bool taken = ((TryLock)dlsym(RTLD_NEXT, TRY_LOCK))(lock);
    if (taken) __tsan_acquire(lock);
    return taken;
}

SWIFT void unlock_slowly(SELF lock) {
    __tsan_release(lock);
    ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(lock);
}
#endif
