// What llama.cpp takes alone, against which the runner is measured: it tokenizes
// and encodes texts in one process, with the same library and threads.
//
//   llama-direct MODEL THREADS ROUNDS BATCH GPU_LAYERS < texts
//
// The texts are lines. It prints the nanoseconds of one text for each round, by
// the clock and of all processors: BATCH 1 gives one text a call, more gives as many a call as fit.

#include "ggml-backend.h"
#include "llama.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

static std::vector<llama_token> tokenize(const llama_vocab * vocab, const std::string & text) {
    std::vector<llama_token> t(text.size() + 8);
    int n = llama_tokenize(vocab, text.data(), (int) text.size(), t.data(), (int) t.size(), true, false);
    t.resize(n);
    return t;
}

int main(int argc, char ** argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: llama-direct MODEL THREADS ROUNDS BATCH GPU_LAYERS < texts\n");
        return 64;
    }
    const int threads = atoi(argv[2]), rounds = atoi(argv[3]), batch = atoi(argv[4]), layers = atoi(argv[5]);
    std::string self = argv[0];
    ggml_backend_load_all_from_path(self.substr(0, self.find_last_of('/')).c_str());
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = layers;
    llama_model * model = llama_model_load_from_file(argv[1], mp);
    if (!model) {
        fprintf(stderr, "the model can't be loaded\n");
        return 1;
    }
    llama_context_params p = llama_context_default_params();
    p.n_ctx = p.n_batch = p.n_ubatch = 512 * batch;
    p.n_seq_max = batch;
    p.kv_unified = true;
    p.n_threads = p.n_threads_batch = threads;
    p.embeddings = true;
    llama_context * ctx = llama_init_from_model(model, p);
    if (!ctx) {
        return 1;
    }
    std::vector<std::string> texts;
    for (std::string line; std::getline(std::cin, line);) {
        texts.push_back(line);
    }
    const llama_vocab * vocab = llama_model_get_vocab(model);
    llama_batch b = llama_batch_init(512 * batch, 0, 1);
    float sum = 0;
    for (int round = -1; round < rounds; round++) { // one to get warm
        auto begin = std::chrono::steady_clock::now();
        clock_t busy = clock();
        for (size_t i = 0; i < texts.size();) {
            b.n_tokens = 0;
            int sequences = 0;
            for (; i < texts.size() && sequences < batch; i++, sequences++) {
                int at = 0;
                for (llama_token t : tokenize(vocab, texts[i])) {
                    int n = b.n_tokens++;
                    b.token[n] = t;
                    b.pos[n] = at++;
                    b.n_seq_id[n] = 1;
                    b.seq_id[n][0] = sequences;
                    b.logits[n] = true;
                }
            }
            if (llama_encode(ctx, b) != 0) {
                return 1;
            }
            for (int s = 0; s < sequences; s++) {
                sum += llama_get_embeddings_seq(ctx, s)[0];
            }
        }
        auto took = std::chrono::steady_clock::now() - begin;
        if (round >= 0) {
            long long n = (long long) texts.size();
            long long ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
            printf("%lld %lld\n", ns / n, (long long) ((clock() - busy) * (1e9 / CLOCKS_PER_SEC)) / n);
        }
    }
    fprintf(stderr, "%g\n", sum); // so that nothing is left out
    return 0;
}
