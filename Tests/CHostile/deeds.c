#define _GNU_SOURCE
#include "CHostile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char garbage[] = "\x03\xff\xff\xff\xff\x07garbage";

/// The number of the last question, which code that has taken over a process finds in its memory.
static char number[8];

/// Takes the place of the library's function in this program, to know the number.
ssize_t recv(int descriptor, void *buffer, size_t length, int flags) {
    ssize_t count = syscall(SYS_recvfrom, descriptor, buffer, length, flags, NULL, NULL);
    if (descriptor == 3 && count >= (ssize_t)sizeof number) memcpy(number, buffer, sizeof number);
    return count;
}

/// Answers the last question.
static void answer(const void *message, size_t length) {
    static char numbered[200008];
    memcpy(numbered, number, sizeof number);
    memcpy(numbered + sizeof number, message, length);
    send(3, numbered, sizeof number + length, 0);
}

static void crash(int port) { *(volatile int *)(intptr_t)(port & 0) = 1; }
static void trap(int port) { __builtin_trap(); }
static void end(int port) { _exit(0); }

static int deeper(volatile char *above) {
    volatile char frame[4096];
    frame[0] = above[0];
    return frame[0] + deeper(frame) + frame[1];
}
static void overflow(int port) {
    volatile char first = 1;
    exit(deeper(&first));
}

static void hang(int port) {
    for (volatile unsigned long i = 0;; i++) {
    }
}
static void wait_forever(int port) {
    for (;;) sleep(1000);
}
static void allocate(int port) {
    for (;;) {
        char *block = malloc(1 << 20);
        if (!block) abort();
        memset(block, 1, 1 << 20);
    }
}

static void read_file(int port) {
    char byte;
    int file = open("/etc/passwd", O_RDONLY);
    if (file >= 0 && read(file, &byte, 1) == 1) _exit(0);
}
static void write_file(int port) { open("/tmp/onesheet-hostile", O_CREAT | O_WRONLY, 0600); }
static void list_folder(int port) { open(".", O_DIRECTORY | O_RDONLY); }
static void link_file(int port) { symlink("/etc/passwd", "/tmp/onesheet-hostile"); }
static void connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket_ = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(socket_, (struct sockaddr *)&address, sizeof address) == 0) _exit(0);
}
static void make_process(int port) {
    if (fork() == 0) pause();
}
static void run_program(int port) {
    char *arguments[] = {"/bin/sh", "-c", "sleep 100", NULL};
    execve(arguments[0], arguments, NULL);
}
static void trace(int port) { ptrace(PTRACE_ATTACH, 1, 0, 0); }
static void kill_others(int port) { kill(-1, SIGKILL); }
static void signal_server(int port) { kill(getppid(), SIGTERM); }
static void run_data(int port) { mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void run_heap(int port) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}
static void raise_limits(int port) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &all);
}
static void allow_traces(int port) { prctl(PR_SET_DUMPABLE, 1); }
static void make_file(int port) { memfd_create("hostile", 0); }
static void copy_descriptor(int port) { dup(3); }
static void change_input(int port) { mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0); }
static void cut_input(int port) { ftruncate(4, 0); }
static void cut_output(int port) { ftruncate(5, 0); }
static void fill_output(int port) {
    static char block[1 << 20];
    for (long place = 0;; place += sizeof block)
        if (pwrite(5, block, sizeof block, place) <= 0) abort();
}

static void write_everywhere(int port) {
    for (int i = 0; i < 1024; i++)
        for (int times = 0; times < 3; times++) {
            if (write(i, garbage, sizeof garbage) < 0) break;
        }
    _exit(0);
}
static void answer_garbage(int port) {
    answer(garbage, sizeof garbage);
    sleep(1000);
}
static void answer_long(int port) {
    static char message[200000] = {3};
    answer(message, sizeof message);
    sleep(1000);
}
/// Says that the picture is as large as a number can be.
static void answer_size(int port) {
    static const unsigned char outline[] = {
        1, 7, 0, 0, 0, 'h', 'o', 's', 't', 'i', 'l', 'e', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0,
    };
    answer(outline, sizeof outline);
    sleep(1000);
}
/// Answers hundreds of questions in advance, and reads none.
static void answer_early(int port) {
    for (int i = 0; i < 600; i++) answer("\x04\x08", 2);
    sleep(1000);
}
/// Answers a question once more when the next one has come, without reading that.
static void answer_twice(int port) {
    char byte;
    answer("\x04\x08", 2);
    syscall(SYS_recvfrom, 3, &byte, 1, MSG_PEEK, NULL, NULL);
    answer("\x04\x08", 2);
    sleep(1000);
}
static void end_by_signal(int port) { syscall(SYS_tgkill, getpid(), gettid(), SIGKILL); }
static void make_thread(int port) {
    if (syscall(SYS_clone, 0x10000 | 0x100 | 0x800, NULL, NULL, NULL, 0) >= 0) _exit(0);
}
/// Says that a sparse file is a picture.
static void answer_huge(int port) {
    static const unsigned char variant[] = {
        2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 'j', 'p', 'e', 'g', 9, 0, 0, 0, 0, 0, 0, 0,
        9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3,
    };
    pwrite(5, "\xff\xd8\xff", 3, 0);
    pwrite(5, "", 1, (3 << 24) - 1);
    answer(variant, sizeof variant);
    sleep(1000);
}
/// Ends well only if there is no environment and no other descriptor.
static void look_around(int port) {
    extern char **environ;
    if (environ && environ[0]) _exit(0);
    for (int i = 6; i < 1024; i++)
        if (lseek(i, 0, SEEK_CUR) >= 0 || errno != EBADF) _exit(0);
}
static void answer_nothing(int port) {
    send(3, garbage, 0, 0);
    sleep(1000);
}
/// Says that there is a variant, whose bytes are not in the output.
static void answer_lies(int port) {
    static const unsigned char variant[] = {
        2, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 4, 0, 0, 0, 'j', 'p', 'e', 'g', 9, 0, 0, 0, 0, 0, 0, 0,
        9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3,
    };
    answer(variant, sizeof variant);
    sleep(1000);
}
/// Says that a page is a picture.
static void answer_page(int port) {
    static const char page[] = "<script>alert(1)</script>";
    static const unsigned char variant[] = {
        2, 1, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'j', 'p', 'e', 'g', 9, 0, 0, 0, 0, 0, 0, 0,
        9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3,
    };
    pwrite(5, page, sizeof page - 1, 0);
    answer(variant, sizeof variant);
    sleep(1000);
}

static const struct {
    const char *name;
    void (*deed)(int port);
} deeds[] = {
    {"crash", crash}, {"trap", trap}, {"abort", (void (*)(int))abort}, {"end", end}, {"overflow", overflow}, {"hang", hang},
    {"wait", wait_forever}, {"allocate", allocate}, {"read-file", read_file}, {"write-file", write_file},
    {"list-folder", list_folder}, {"link-file", link_file}, {"connect", connect_to}, {"make-process", make_process},
    {"run-program", run_program}, {"trace", trace}, {"kill-others", kill_others}, {"signal-server", signal_server},
    {"run-data", run_data}, {"run-heap", run_heap}, {"raise-limits", raise_limits}, {"allow-traces", allow_traces},
    {"make-file", make_file}, {"copy-descriptor", copy_descriptor}, {"change-input", change_input}, {"cut-input", cut_input},
    {"cut-output", cut_output}, {"fill-output", fill_output}, {"write-everywhere", write_everywhere},
    {"answer-garbage", answer_garbage}, {"answer-nothing", answer_nothing}, {"answer-lies", answer_lies},
    {"answer-page", answer_page}, {"answer-long", answer_long},
    {"answer-huge", answer_huge}, {"answer-size", answer_size}, {"answer-early", answer_early},
    {"answer-twice", answer_twice},
    {"end-by-signal", end_by_signal}, {"make-thread", make_thread}, {"look-around", look_around},
};

int chostile_do(const char *deed, int port) {
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++)
        if (strcmp(deeds[i].name, deed) == 0) {
            deeds[i].deed(port);
            return 1;
        }
    return 0;
}
