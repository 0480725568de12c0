package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// runc is the peer: the program that container engines start containers with.
type runc struct {
	program string
	bundle  string        // the folder with its configuration
	server  string        // the program of the container
	itself  time.Duration // the least that the program took by itself until its first word
	state   string
}

var errNotRoot = errors.New("it is started as root")

// prepareRunc finds runc or unpacks Debian's package, and describes a container like ours to it: namespaces of its own,
// the user namespace among them, few rights, a filter of system calls, an overlay.
func (b *bench) prepareRunc(ctx context.Context) (*runc, error) {
	if os.Geteuid() != 0 {
		return nil, errNotRoot
	}
	program, err := b.findRunc(ctx)
	if err != nil {
		return nil, err
	}
	r := &runc{program: program, bundle: filepath.Join(b.dir, "bundle"), state: filepath.Join(b.dir, "runc-state")}
	if err := os.Chmod(b.dir, 0o711); err != nil { // for the user namespace's root
		return nil, err
	}
	for _, folder := range []string{"image/proc", "image/dev", "image/sys", "image/tmp", "upper", "work", "rootfs"} {
		if err := os.MkdirAll(filepath.Join(r.bundle, folder), 0o755); err != nil {
			return nil, err
		}
	}
	r.server = filepath.Join(r.bundle, "image", "server")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", r.server, ".")
	build.Dir, build.Env = filepath.Join(b.dir, "server"), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	config, err := json.Marshal(runcConfig())
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.bundle, "config.json"), config, 0o644); err != nil {
		return nil, err
	}
	if _, err := r.start(ctx, -1); err != nil { // this machine does not let it
		return nil, err
	}
	return r, nil
}

// findRunc looks on PATH and then asks Debian's package manager.
func (b *bench) findRunc(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("runc"); err == nil {
		return path, nil
	}
	folder := filepath.Join(b.dir, "debian")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	const script = "apt-get download -q runc libseccomp2 >&2 && for p in *.deb; do dpkg -x $p .; done"
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("not on PATH, and Debian's package cannot be had: %w: %s", err, bytes.TrimSpace(out))
	}
	program := filepath.Join(folder, "usr", "sbin", "runc")
	if _, err := os.Stat(program); err != nil {
		return "", err
	}
	libraries, err := filepath.Glob(filepath.Join(folder, "usr", "lib", "*"))
	if err != nil {
		return "", err
	}
	return program, os.Setenv("LD_LIBRARY_PATH", strings.Join(libraries, ":"))
}

// start is how many milliseconds `runc run` takes until the program's first word, less what the program takes for that
// by itself.
func (r *runc) start(ctx context.Context, number int) (float64, error) {
	itself, err := untilFirstWord(exec.CommandContext(ctx, r.server))
	if err != nil {
		return 0, err
	}
	if r.itself == 0 || itself < r.itself {
		r.itself = itself
	}
	options := fmt.Sprintf("lowerdir=%[1]s/image,upperdir=%[1]s/upper,workdir=%[1]s/work", r.bundle)
	root := filepath.Join(r.bundle, "rootfs")
	if out, err := exec.CommandContext(ctx, "mount", "-t", "overlay", "overlay", "-o", options, root).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("mount an overlay: %w: %s", err, out)
	}
	defer func() { _ = exec.CommandContext(context.WithoutCancel(ctx), "umount", root).Run() }()
	name := fmt.Sprintf("slipway-bench-%d-%d", os.Getpid(), number)
	run := exec.CommandContext(ctx, r.program, "--root", r.state, "run", "--bundle", r.bundle, name)
	took, err := untilFirstWord(run)
	_ = exec.CommandContext(context.WithoutCancel(ctx), r.program, "--root", r.state, "delete", "--force", name).Run()
	return milliseconds(took - r.itself), err
}

// untilFirstWord starts a command and ends it when it has written something.
func untilFirstWord(cmd *exec.Cmd) (time.Duration, error) {
	var failure bytes.Buffer
	cmd.Stderr = &failure
	words, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = words.Read(make([]byte, 1))
	took := time.Since(begin)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", cmd, err, bytes.TrimSpace(failure.Bytes()))
	}
	return took, nil
}

type object = map[string]any

// runcConfig describes a container as real nodes make them.
func runcConfig() object {
	rights := []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID", "CAP_SETFCAP",
		"CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE", "CAP_MKNOD"}
	var namespaces []object
	for _, kind := range []string{"user", "pid", "network", "ipc", "uts", "mount"} {
		namespaces = append(namespaces, object{"type": kind})
	}
	ids := []object{{"containerID": 0, "hostID": 0x70000000, "size": 1 << 16}}
	return object{
		"ociVersion": "1.0.2",
		"process": object{
			"user": object{"uid": 0, "gid": 0}, "args": []string{"/server"}, "env": []string{"PATH=/"}, "cwd": "/", "noNewPrivileges": true,
			"capabilities": object{"bounding": rights, "effective": rights, "permitted": rights},
		},
		"root": object{"path": "rootfs"}, "hostname": "bench", "mounts": runcMounts(),
		"linux": object{
			"namespaces": namespaces, "uidMappings": ids, "gidMappings": ids,
			"maskedPaths":   []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware", "/proc/scsi"},
			"readonlyPaths": []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			"seccomp": object{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []object{{"action": "SCMP_ACT_ERRNO", "names": []string{
				"acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen",
				"fspick", "get_mempolicy", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "kcmp", "kexec_load", "keyctl",
				"lookup_dcookie", "mbind", "mount", "mount_setattr", "move_mount", "move_pages", "nfsservctl", "open_by_handle_at", "open_tree",
				"perf_event_open", "personality", "pivot_root", "process_madvise", "quotactl", "reboot", "request_key", "setdomainname", "sethostname",
				"setns", "settimeofday", "set_mempolicy", "swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd", "vhangup",
			}}}},
		},
	}
}

func runcMounts() []object {
	mount := func(at, kind string, options ...string) object {
		return object{"destination": at, "type": kind, "source": kind, "options": options}
	}
	return []object{
		mount("/proc", "proc"),
		mount("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
		mount("/dev/pts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"),
		mount("/dev/shm", "tmpfs", "nosuid", "noexec", "nodev", "mode=1777", "size=65536k"),
		mount("/dev/mqueue", "mqueue", "nosuid", "noexec", "nodev"),
		mount("/sys", "sysfs", "nosuid", "noexec", "nodev", "ro"),
	}
}
