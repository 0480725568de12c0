package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/bench/build"
)

// bench is a folder with programs, a state of its own, and images.
type bench struct {
	runs    int
	dir     string
	slipway string
	root    string // of the repository
	env     []string
}

// prepare builds the programs that are measured.
func prepare(ctx context.Context, dir string, runs int) (*bench, error) {
	b := &bench{runs: runs, dir: dir}
	var err error
	if b.root, err = build.Root(ctx); err != nil {
		return nil, err
	}
	if b.slipway, err = build.Slipway(ctx, dir); err != nil {
		return nil, err
	}
	b.env = append(os.Environ(), "SLIPWAY_CHECK=off", "SLIPWAY_STATE="+filepath.Join(dir, "state"), "KUBECONFIG="+b.kubeconfig())
	for _, arguments := range [][]string{{"cluster", "build"}, {"cluster", "build", "--nodes", "real"}} {
		if err := b.run(ctx, dir, arguments...); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bench) kubeconfig() string { return filepath.Join(b.dir, "kubeconfig") }

// run runs the command in a folder; what it says is part of an error.
func (b *bench) run(ctx context.Context, folder string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, b.slipway, arguments...)
	cmd.Dir, cmd.Env = folder, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("slipway %v: %w\n%s", arguments, err, out)
	}
	return nil
}

// timed is how many milliseconds the command takes.
func (b *bench) timed(ctx context.Context, folder string, arguments ...string) (float64, error) {
	begin := time.Now()
	err := b.run(ctx, folder, arguments...)
	return milliseconds(time.Since(begin)), err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// onCluster does something with a cluster of real nodes, which ends with it.
func (b *bench) onCluster(ctx context.Context, nodes string, do func(kubernetes.Interface) error) error {
	if err := b.run(ctx, b.dir, "cluster", "start", "--nodes", nodes); err != nil {
		return err
	}
	defer func() { _ = b.run(context.WithoutCancel(ctx), b.dir, "cluster", "stop") }()
	client, err := b.client()
	if err != nil {
		return err
	}
	return do(client)
}

// client is one of the cluster that runs, without limits of its own.
func (b *bench) client() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", b.kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// server is the program of the pods: it serves, and ends when it is asked to. Where it has a volume it leaves a line
// there when it starts, and serves all of them.
const server = `package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Stdout.WriteString("here\n") // by which it is known to have begun
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if f, err := os.OpenFile("/data/starts", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err == nil {
		f.WriteString(os.Getenv("HOSTNAME") + "\n")
		f.Close()
	}
	go http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		starts, _ := os.ReadFile("/data/starts")
		w.Write(starts)
	}))
	<-ctx.Done()
}
`

// loadServer builds the image of the pods and puts it into the cluster.
func (b *bench) loadServer(ctx context.Context) error {
	folder := filepath.Join(b.dir, "server")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module example.com/server\n\ngo 1.26\n", "main.go": server} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := b.run(ctx, folder, "image", "build", "-t", image); err != nil {
		return err
	}
	return b.run(ctx, folder, "image", "load", image)
}
