package blackbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// agentVariable has the test binary be an agent: a command that scenarios run.
const agentVariable = "BLACKBOX_TEST_AGENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(agentVariable); how != "" {
		if err := beAgent(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beAgent is a program as an agent: good in several ways, or bad.
func beAgent(how string) error {
	ctx := context.Background()
	e := blackbox.Endpoints{Model: os.Getenv("GOLIATHFS_MODEL_URL"), MCP: os.Getenv("GOLIATHFS_MCP_URL"), Stdio: os.Getenv("STDIO"), Work: "."}
	switch how {
	case "http":
		return agentOver(ctx, e, &mcp.StreamableClientTransport{Endpoint: e.MCP})
	case "stdio":
		conn, err := net.Dial("tcp", e.Stdio)
		if err != nil {
			return err
		}
		defer conn.Close()
		return agentOver(ctx, e, &mcp.IOTransport{Reader: conn, Writer: conn})
	case "environment":
		for _, v := range os.Environ() {
			fmt.Println(v)
		}
		here, err := os.Getwd()
		fmt.Println(here)
		return err
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting for ever")
		select {}
	case "deaf": // it does not end when it is told to
		return exec.Command("sh", "-c", "trap '' TERM; sleep 1000 & wait").Run()
	case "die":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "status":
		os.Exit(3)
	case "fork":
		return exec.Command("sleep", "1000").Start()
	case "daemon": // it leaves the group too
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	case "unknown":
		resp, err := http.Get(e.Model + "/v1/files")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	return errors.New("there is no agent " + how)
}

// agentOver is an agent whose tools come from a session.
func agentOver(ctx context.Context, e blackbox.Endpoints, transport mcp.Transport) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	a := goAgent{
		protocol: wire.Protocol(os.Getenv("PROTOCOL")), stream: os.Getenv("STREAM") != "", ask: os.Args[1],
		rename: func(name string) string { return "files_" + name },
		call: func(ctx context.Context, _ blackbox.Endpoints, c wire.Call) (string, error) {
			return callSession(ctx, session, c)
		},
	}
	answer, err := a.talk(ctx, e, toolsOf(tools.Tools))
	if err == nil {
		fmt.Println(answer)
	}
	return err
}
