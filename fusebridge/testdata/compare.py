# Does the same random operations in two directories, MOUNT and NATIVE, and fails
# at the first that ends differently.
# Usage: compare.py MOUNT NATIVE SEED ROUNDS
import errno, os, random, sys

MOUNT, NATIVE, SEED, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rnd = random.Random(SEED)
FILES = ["a", "b", "c.txt", "d~", ".e.swp", "sub/x", "sub/y", "sub2/z"]
DIRS = ["sub", "sub2", "sub/deep"]
FLAGS = [os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_RDWR | os.O_TRUNC | os.O_CREAT, os.O_RDWR | os.O_APPEND]
held = {}  # by directory: one descriptor that stays open


def store(path, mode, data):
    with open(path, mode) as f:
        f.write(data)


def load(path):
    with open(path, "rb") as f:
        return f.read()


def hold(base, path, flags):
    held[base] = os.open(path, flags, 0o644)


def let_go(base):
    os.close(held.pop(base))


def operation(n):
    x, y, d = rnd.choice(FILES), rnd.choice(FILES), rnd.choice(DIRS)
    data, off, flags = chr(97 + n % 26).encode() * rnd.randrange(3000), rnd.randrange(5000), rnd.choice(FLAGS)
    named = {
        "write": lambda b: store(f"{b}/{x}", "wb", data),
        "append": lambda b: store(f"{b}/{x}", "ab", data),
        "truncate": lambda b: os.truncate(f"{b}/{x}", off),
        "read": lambda b: load(f"{b}/{x}"),
        "stat": lambda b: (os.stat(f"{b}/{x}").st_size, os.stat(f"{b}/{x}").st_nlink),
        "rename": lambda b: os.rename(f"{b}/{x}", f"{b}/{y}"),
        "unlink": lambda b: os.unlink(f"{b}/{x}"),
        "mkdir": lambda b: os.mkdir(f"{b}/{d}"),
        "rmdir": lambda b: os.rmdir(f"{b}/{d}"),
        "list": lambda b: sorted(os.listdir(b)),
    }
    if held:
        named |= {
            "fd write": lambda b: os.pwrite(held[b], data, off),
            "fd read": lambda b: os.pread(held[b], 9000, 0),
            "fd truncate": lambda b: os.ftruncate(held[b], off),
            "fd sync": lambda b: os.fsync(held[b]),
            "fd close": let_go,
        }
    else:
        named["open"] = lambda b: hold(b, f"{b}/{x}", flags)
    name = rnd.choice(sorted(named) + ["write"] * 3)
    return f"{n}: {name} {x} {y} {d} {off} {flags}", name, named[name]


def outcome(call, base):
    try:
        return call(base)
    except OSError as e:
        return errno.errorcode[e.errno]


done = []
for n in range(ROUNDS):
    what, name, call = operation(n)
    done.append(what)
    got, want = outcome(call, MOUNT), outcome(call, NATIVE)
    if got != want:
        print("\n".join(done[-40:]))
        sys.exit(f"{what}: the mount gives {got!r:.200}, the native file system {want!r:.200}")
    if len(held) == 1:
        sys.exit(f"{what}: one side opened, the other did not")
