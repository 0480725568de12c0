// Pod is the program of the image that tests of real nodes run: a handful of small commands.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

func main() {
	commands := map[string]func(args []string) error{
		"serve": serve, "exit": exit, "echo": echo, "cat": cat, "env": env, "status": status, "get": get, "udp": udp, "resolve": resolve,
		"stubborn": stubborn, "write": write, "ls": list, "terminal": terminal, "graceful": graceful, "mount": mount, "api": api, "allocate": allocate, "spin": spin, "work": work,
		"kubeconfig": kubeconfig, "owner": owner, "leave": leave, "linkdown": linkdown, "chown": chown, "aggregate": aggregate,
		"attack": attack, "halfclose": halfclose, "cutoff": cutoff, "download": download, "flood": flood,
	}
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"serve"}
	}
	run, ok := commands[args[0]]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown command", args)
		os.Exit(2)
	}
	if err := run(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers HTTP on port 8080, and echoes UDP on 9090, or on the ports that are given.
func serve(args []string) error {
	port, udpPort := "8080", "9090"
	if len(args) > 0 {
		port = args[0]
	}
	if len(args) > 1 {
		udpPort = args[1]
	}
	packets, err := net.ListenPacket("udp", ":"+udpPort)
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 2000)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(buffer[:n], from)
		}
	}()
	host, _ := os.Hostname()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, host) })
	http.HandleFunc("/file/", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, strings.TrimPrefix(r.URL.Path, "/file"))
	})
	fmt.Println("serving", port)
	return http.ListenAndServe(":"+port, nil)
}

func exit(args []string) error {
	code, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	fmt.Println("exiting with", code)
	os.Exit(code)
	return nil
}

func echo(args []string) error {
	fmt.Println(strings.Join(args, " "))
	return nil
}

func cat(args []string) error {
	if len(args) == 0 {
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	}
	for _, name := range args {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		os.Stdout.Write(text)
	}
	return nil
}

func env([]string) error {
	fmt.Println(strings.Join(os.Environ(), "\n"))
	return nil
}

// status prints what the kernel says of the process.
func status([]string) error { return cat([]string{"/proc/self/status"}) }

func get(args []string) error {
	client := &http.Client{Timeout: testlimit.Hang}
	r, err := client.Get(args[0])
	if err != nil {
		return err
	}
	defer r.Body.Close()
	_, err = io.Copy(os.Stdout, r.Body)
	return err
}

// api asks the API server as client-go does in a pod.
func api(args []string) error {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Timeout: testlimit.Hang, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	at := "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")) + args[0]
	request, err := http.NewRequest("GET", at, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	r, err := client.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	_, err = io.Copy(os.Stdout, r.Body)
	return err
}

func udp(args []string) error {
	conn, err := net.Dial("udp", args[0])
	if err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	if _, err := conn.Write([]byte(args[1])); err != nil {
		return err
	}
	buffer := make([]byte, 2000)
	n, err := conn.Read(buffer)
	if err != nil {
		return err
	}
	fmt.Print(string(buffer[:n]))
	return nil
}

func resolve(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testlimit.Hang)
	defer cancel()
	if len(args) == 3 {
		_, servers, err := net.DefaultResolver.LookupSRV(ctx, args[0], args[1], args[2])
		if err != nil {
			return err
		}
		for _, s := range servers {
			fmt.Println(s.Target, s.Port)
		}
		return nil
	}
	found, err := net.DefaultResolver.LookupHost(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(found, "\n"))
	return nil
}

// stubborn does not end when it is asked to.
func stubborn([]string) error {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("staying")
	time.Sleep(time.Hour)
	return nil
}

// graceful says goodbye.
func graceful([]string) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	fmt.Println("waiting")
	<-asked
	fmt.Println("goodbye")
	return nil
}

func write(args []string) error {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, strings.Join(args[1:], " "))
	return errors.Join(err, f.Close())
}

func list(args []string) error {
	entries, err := os.ReadDir(args[0])
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	return err
}

// terminal says whether stdin is one.
func terminal([]string) error {
	info, err := os.Stdin.Stat()
	if err != nil {
		return err
	}
	fmt.Println("terminal:", info.Mode()&os.ModeCharDevice != 0)
	return nil
}

// allocate takes so many MiB of memory, and uses them.
func allocate(args []string) error {
	mebibytes, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var all [][]byte
	for range mebibytes {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += os.Getpagesize() {
			block[i] = 1
		}
		all = append(all, block)
	}
	fmt.Println("allocated", len(all))
	return nil
}

// spin never rests.
func spin([]string) error {
	for i := uint64(0); ; i++ {
		if i == 1<<63 {
			return errors.New("that took long")
		}
	}
}

// work is busy a fifth of the time.
func work([]string) error {
	for begin := range time.Tick(100 * time.Millisecond) {
		for time.Since(begin) < 20*time.Millisecond {
		}
	}
	return nil
}

// mount tries what a container must not do.
func mount([]string) error { return syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, "") }

// chown gives a file to a user and a group of that number.
func chown(args []string) error {
	id, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return os.Chown(args[0], id, id)
}

// owner prints to whom files belong.
func owner(args []string) error {
	for _, name := range args {
		var s syscall.Stat_t
		if err := syscall.Stat(name, &s); err != nil {
			return err
		}
		fmt.Printf("%d:%d\n", s.Uid, s.Gid)
	}
	return nil
}
