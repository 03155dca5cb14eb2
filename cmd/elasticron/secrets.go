package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/elasticron/elasticron/console/access"
)

func newServerPassword(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "passwd",
		Short: "Make the hash of a password, for the users file",
		Long: `Passwd reads a password, from the terminal without showing it or else the first line of the
input, and writes the hash of it, which the users file has under password. It must have 12 to
1024 bytes.`,
		Example: `  elasticron server passwd`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := p.password(cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			hash, err := access.HashPassword(password)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), hash)
			return err
		},
	}
}

// password reads a password, twice where nobody sees what is typed.
func (p *program) password(in io.Reader, news io.Writer) (string, error) {
	file, is := in.(*os.File)
	if !is || !p.asked(in) {
		line, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2][]byte
	for i, question := range []string{"Password: ", "Once more: "} {
		if _, err := fmt.Fprint(news, question); err != nil {
			return "", err
		}
		var err error
		typed[i], err = term.ReadPassword(int(file.Fd()))
		if _, shown := fmt.Fprintln(news); err != nil || shown != nil {
			return "", errors.Join(err, shown)
		}
	}
	if string(typed[0]) != string(typed[1]) {
		return "", errors.New("the two are not the same")
	}
	return string(typed[0]), nil
}

func newServerToken() *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Make a token, and what the users file has of it",
		Long: `Token makes a secret for a program, and writes it and its SHA-256. The users file has the
SHA-256 under sha256, and beside it until when the token is good, as end: 2027-01-01T00:00:00Z. The
token itself is shown here alone.`,
		Example: `  elasticron server token`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, stored := access.NewToken()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "token: %s\nsha256: %s\n", token, stored)
			return err
		},
	}
}

func newServerKey() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Make a key for the sessions of several servers",
		Long: `Key writes a new line for the file of --session-key, which all servers of a console have. The
first line of the file is in use, and the second one is still understood: so put a new one on top.`,
		Example: `  elasticron server key > session.key`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), access.NewKey())
			return err
		},
	}
}
