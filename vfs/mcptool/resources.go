package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// scheme is that of the URIs of resources, as in goliath:///notes/today.md.
const scheme = "goliath"

// noBudget is for resources, which are whole files.
const noBudget = 1 << 30

// addResources shows the files as resources. They are found and read through the
// tools, so that a root and the choice of a store hold for them as well.
func (s *Server) addResources() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name:        "file",
		Description: "A whole file, by its path.",
		MIMEType:    "text/plain",
		URITemplate: scheme + "://{+path}",
	}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return s.readResource(ctx, req.Params.URI)
	})
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, stop := s.withEnd(ctx)
			defer stop()
			switch req := req.(type) {
			case *mcp.ListResourcesRequest:
				cursor := ""
				if req.Params != nil {
					cursor = req.Params.Cursor
				}
				return s.listResources(ctx, cursor)
			case *mcp.ReadResourceRequest:
				return s.readResource(ctx, req.Params.URI)
			}
			return next(ctx, method, req)
		}
	})
}

// listResources returns a page as large as one of glob.
func (s *Server) listResources(ctx context.Context, cursor string) (mcp.Result, error) {
	args := map[string]any{"pattern": "/**"}
	if cursor != "" {
		args["cursor"] = cursor
	}
	out, err := s.whole(ctx, agenttool.Glob, args)
	if err != nil {
		return nil, err
	}
	res := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, NextCursor: out.Next()}
	for _, m := range out.(*agenttool.GlobOutput).Matches {
		uri := url.URL{Scheme: scheme, Path: m.Path}
		res.Resources = append(res.Resources, &mcp.Resource{URI: uri.String(), Name: path.Base(m.Path), MIMEType: "text/plain"})
	}
	return res, nil
}

func (s *Server) readResource(ctx context.Context, uri string) (*mcp.ReadResourceResult, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != scheme || u.Host != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a resource is named " + scheme + ":///path/of/a/file, with spaces and signs percent-encoded; list the resources to see them"}
	}
	var text strings.Builder
	for args := map[string]any{"path": u.Path, "limit": mostLines}; ; {
		out, err := s.whole(ctx, agenttool.ReadFile, args)
		if _, limited := args["limit"]; limited && refusedLimit(err) {
			delete(args, "limit") // the toolset takes less, and has a default
			continue
		}
		if agenttool.CodeOf(err) == codes.NotFound {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		if err != nil {
			return nil, err
		}
		text.WriteString(out.(*agenttool.ReadOutput).Content)
		if out.Next() == "" {
			break
		}
		args["cursor"] = out.Next()
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text.String()}}}, nil
}

// mostLines is what readFile can be asked for at the most by default.
const mostLines = 200

// refusedLimit reports whether a toolset does not take mostLines.
func refusedLimit(err error) bool {
	var refusal *jsonrpc.Error
	return errors.As(err, &refusal) && strings.HasPrefix(refusal.Message, string(codes.InvalidArgument)+": ")
}

// whole calls a tool without a budget. Its error is one of the protocol.
func (s *Server) whole(ctx context.Context, tool string, args map[string]any) (agenttool.Output, error) {
	input, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	scope := s.scope()
	scope.MaxTokens = noBudget
	res, err := s.tools.Call(ctx, scope, tool, input)
	switch agenttool.CodeOf(err) {
	case "":
		return res.Output, nil
	case codes.NotFound:
		return nil, err
	case codes.Store, codes.Canceled:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}
