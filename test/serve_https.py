"""tutti submit, status, cancel and drain through a proxy with TLS in front of tutti serve.

    test/serve_https.py PATH_OF_TUTTI

Makes a certificate for localhost with openssl, puts a small proxy with it in front of a server, and asks as a user would: with the
certificate named, found by the environment, not known, and of another name. Exit code 77: openssl or libcurl is not here.
"""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Proxy:
    """Takes TLS off and hands the bytes on."""

    def __init__(self, certificate, key, port):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.behind = port
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            raw, _ = self.listening.accept()
            threading.Thread(target=self.serve, args=(raw,), daemon=True).start()

    def serve(self, raw):
        try:
            client = self.context.wrap_socket(raw, server_side=True)
        except OSError:
            return  # it does not trust us
        server = socket.create_connection(("127.0.0.1", self.behind))
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        copy(client, server)


def make_certificate(folder, name):
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + name,
                    "-addext", "subjectAltName=DNS:" + name, "-keyout", key, "-out", certificate],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return certificate, key


def main():
    tutti = sys.argv[1]
    if shutil.which("openssl") is None:
        print("skipped: there is no openssl")
        return 77
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("TUTTI_TOKEN", "TUTTI_SERVER", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
                   and not name.lower().endswith("_proxy")}
    wrong = []

    def ask(words, code, says, **more):
        ran = subprocess.run([tutti, *words], env={**environment, **more}, capture_output=True, text=True, timeout=60)
        said = ran.stdout + ran.stderr
        if ran.returncode != code or says not in said:
            wrong.append(f"{' '.join(words)}: exit code {ran.returncode}, not {code}, or no '{says}' in: {said}")
        return said

    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(folder, "localhost")
        other, other_key = make_certificate(folder, "elsewhere.example")
        token = os.path.join(folder, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef0123456789\n")
        os.chmod(token, 0o600)
        server = subprocess.Popen([tutti, "serve", "--listen", "127.0.0.1:0", "--state", os.path.join(folder, "state"),
                                   "--runtime", "sim", "--machine", "uniform-2", "--token-file", token],
                                  stdout=subprocess.PIPE, text=True, env=environment)
        try:
            port = int(server.stdout.readline().split("http://127.0.0.1:")[1].split()[0])
            here = ["--server", f"https://localhost:{Proxy(certificate, key, port).port}", "--token-file", token]
            said = ask(["status", *here], 1, "")
            if "without libcurl" in said or "libcurl, which is not here" in said:
                print("skipped:", said)
                return 77
            wrong.clear()
            ca = [*here, "--ca", certificate]
            # Larger than one TLS record, and than what curl sends without asking.
            large = os.path.join(folder, "large.json")
            subprocess.run([tutti, "graph", "make", "layered", "--ops", "8000", "-o", large], check=True, env=environment,
                           stdout=subprocess.DEVNULL)
            ask(["submit", "--make", "cholesky --tiles 2", "--id", "a", "--wait", *ca], 0, "a: done")
            ask(["submit", large, "--id", "large", *ca], 0, "large: ")
            ask(["status", "a", *ca], 0, "a: done")
            ask(["status", *here], 0, "decided by", SSL_CERT_FILE=certificate)
            ask(["status", *here], 0, "decided by", CURL_CA_BUNDLE=certificate)
            ask(["cancel", "a", *ca], 2, "the job is over already")
            ask(["submit", "--make", "nothing", *ca], 2, "nothing")
            ask(["drain", "--wait", *ca], 0, "drained")
            ask(["status", *here], 1, "its certificate is not trusted")
            ask(["status", *here, "--ca", other], 1, "its certificate is not trusted")
            ask(["status", *here, "--ca", folder + "/none"], 2, "there is no such file")
            foreign = Proxy(other, other_key, port).port
            ask(["status", "--server", f"https://localhost:{foreign}", "--token-file", token, "--ca", other], 1,
                "its certificate is not trusted")
            ask(["status", "--server", "https://localhost:1", "--token-file", token], 1, "no tutti serve answers at https://")
        finally:
            server.terminate()
            server.wait()
    for sentence in wrong:
        print(sentence)
    print("https:", "wrong" if wrong else "good")
    return 1 if wrong else 0


sys.exit(main())
