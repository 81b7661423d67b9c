// libllama_go: the seven functions that github.com/kelindar/search looks for,
// and two of ours, over the C interface of llama.cpp (llama.h). Nothing else of
// llama.cpp is compiled in: the library links against libllama and libggml that
// lie beside it.
//
// It differs from the library that kelindar/search comes with in what has to be
// so for a process that serves others:
//
//   * A text of more tokens than a batch holds gives the code 1 instead of the
//     end of the process; *out_tokens says how many it has.
//   * One call at a time: contexts of one model that run at once gave wrong
//     vectors.
//   * Nothing is printed to stdout. Warnings and errors go to stderr.
//   * A model that names no pooling is pooled by the mean; without, one vector
//     a token would be written over the end of the caller's buffer.
//   * A model for reranking is refused for vectors: it has one number, of which
//     a vector would be read. It is for ctxd_rank, which kelindar/search lacks.
//
// The environment is the only way past kelindar/search:
//
//   CTXD_LLAMA_THREADS  threads of a call, else half of the cores, at most 4
//   CTXD_LLAMA_DEVICE   name of the GPU (Vulkan0, CUDA1) or part of its description;
//                       else the first that is no software, a discrete one before others

#include "ggml-backend.h"
#include "llama.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#define EXPORT extern "C" __declspec(dllexport)
#else
#include <dlfcn.h>
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace {

const int32_t max_tokens = 512; // of a call, as the position table of BERT

// What is known of a model beside what llama.cpp tells.
struct facts {
    std::string device = "cpu";
    int layers = 0, offloaded = 0;
};

std::mutex one_at_a_time; // guards all below and every call into llama.cpp
llama_model * latest; // that was loaded
llama_context * ranker; // of the latest model, once it has ranked
facts latest_facts;
int said_offloaded, said_layers; // by the log of the load that runs

// on_log keeps quiet below warnings, and reads from the log what no function
// tells: how many layers went to the GPU.
void on_log(ggml_log_level level, const char * text, void *) {
    static thread_local bool loud = false;
    if (const char * at = strstr(text, "offloaded ")) {
        sscanf(at, "offloaded %d/%d layers", &said_offloaded, &said_layers);
    }
    if (level != GGML_LOG_LEVEL_CONT) {
        loud = level >= GGML_LOG_LEVEL_WARN;
    }
    if (loud) {
        fputs(text, stderr);
    }
}

// own_folder is where this library lies, and the backends with it.
std::string own_folder() {
    std::string path;
#ifdef _WIN32
    HMODULE self = nullptr;
    char buffer[MAX_PATH] = "";
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       (LPCSTR) &own_folder, &self);
    GetModuleFileNameA(self, buffer, MAX_PATH);
    path = buffer;
#else
    Dl_info info;
    if (dladdr((void *) &own_folder, &info) != 0) {
        path = info.dli_fname;
    }
#endif
    size_t end = path.find_last_of("/\\");
    return end == std::string::npos ? "." : path.substr(0, end);
}

std::string lower(std::string s) {
    for (char & c : s) {
        c = (char) std::tolower((unsigned char) c);
    }
    return s;
}

bool is_gpu(ggml_backend_dev_t device) {
    auto type = ggml_backend_dev_type(device);
    return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

// choose gives the GPU that is asked for, or the best; null if there is none.
ggml_backend_dev_t choose(const char * wanted) {
    ggml_backend_dev_t best = nullptr;
    std::string names;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t d = ggml_backend_dev_get(i);
        if (!is_gpu(d)) {
            continue;
        }
        std::string name = ggml_backend_dev_name(d), description = ggml_backend_dev_description(d);
        names += (names.empty() ? "" : ", ") + name + " (" + description + ")";
        if (wanted && *wanted) {
            if (lower(name) == lower(wanted) || lower(description).find(lower(wanted)) != std::string::npos) {
                return d;
            }
        } else if (!best || (ggml_backend_dev_type(d) == GGML_BACKEND_DEVICE_TYPE_GPU &&
                             ggml_backend_dev_type(best) != GGML_BACKEND_DEVICE_TYPE_GPU)) {
            best = d;
        }
    }
    if (wanted && *wanted) {
        fprintf(stderr, "no GPU is called %s; there are: %s\n", wanted, names.empty() ? "none" : names.c_str());
    }
    return best;
}

int threads() {
    const char * set = getenv("CTXD_LLAMA_THREADS");
    int n = set ? atoi(set) : 0;
    return n > 0 ? n : std::max(1, std::min(4, (int) std::thread::hardware_concurrency() / 2));
}

std::string quoted(const std::string & s) {
    std::string out = "\"";
    for (unsigned char c : s) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        if (c >= ' ') {
            out += (char) c;
        }
    }
    return out + "\"";
}

std::vector<llama_token> tokenize(const llama_model * model, const char * text, bool special = true) {
    const llama_vocab * vocab = llama_model_get_vocab(model);
    int32_t length = (int32_t) strlen(text);
    std::vector<llama_token> tokens(length + 8);
    // What looks like a special token in a text is text.
    int32_t n = llama_tokenize(vocab, text, length, tokens.data(), (int32_t) tokens.size(), special, false);
    if (n < 0) { // more than one a byte
        tokens.resize(-n);
        n = llama_tokenize(vocab, text, length, tokens.data(), (int32_t) tokens.size(), special, false);
    }
    tokens.resize(std::max(0, n));
    return tokens;
}

llama_context * new_context(llama_model * model, enum llama_pooling_type pooling) {
    uint32_t n = std::min(max_tokens, llama_model_n_ctx_train(model));
    llama_context_params p = llama_context_default_params();
    p.n_ctx = p.n_batch = p.n_ubatch = n; // an encoder reads all of a text at once
    p.n_seq_max = 1;
    p.n_threads = p.n_threads_batch = threads();
    p.embeddings = true;
    p.pooling_type = pooling;
    return llama_init_from_model(model, p);
}

int embed(llama_context * ctx, const char * text, float * out, uint32_t * out_tokens) {
    const llama_model * model = llama_get_model(ctx);
    std::vector<llama_token> tokens = tokenize(model, text);
    *out_tokens = (uint32_t) tokens.size();
    if (tokens.size() > llama_n_batch(ctx)) {
        return 1;
    }
    if (tokens.empty()) {
        return 2;
    }
    llama_memory_t memory = llama_get_memory(ctx); // an encoder has none
    llama_batch batch = llama_batch_get_one(tokens.data(), (int32_t) tokens.size());
    if (memory) {
        llama_memory_clear(memory, true);
    }
    if ((memory ? llama_decode(ctx, batch) : llama_encode(ctx, batch)) != 0) {
        return 3;
    }
    const float * v = llama_get_embeddings_seq(ctx, 0);
    if (!v) {
        return 3;
    }
    const int32_t dims = llama_model_n_embd(model);
    double squares = 0;
    for (int32_t i = 0; i < dims; i++) {
        squares += (double) v[i] * v[i];
    }
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (int32_t i = 0; i < dims; i++) {
        out[i] = (float) (v[i] * scale);
    }
    return 0;
}

// number reads a number that a model says of itself, or gives -1.
int number(const llama_model * model, const std::string & key) {
    char value[32] = "";
    return llama_model_meta_val_str(model, key.c_str(), value, sizeof value) > 0 ? atoi(value) : -1;
}

// ranks says whether a model is made for reranking and gives one number, a logit.
// One with more numbers, as Qwen3's two, which are probabilities, wants a prompt of
// its own around the texts, too.
bool ranks(const llama_model * model) {
    char kind[64] = "";
    return llama_model_meta_val_str(model, "general.architecture", kind, sizeof kind) > 0 &&
           number(model, std::string(kind) + ".pooling_type") == LLAMA_POOLING_TYPE_RANK &&
           llama_model_n_cls_out(model) == 1;
}

// pair puts a question and a text together as the model was trained to read them:
// [CLS] question [SEP] text [SEP], or with the marks of its vocabulary. What is too
// long is cut, first the text; the question keeps at least half of the room.
std::vector<llama_token> pair(const llama_model * model, const char * query, const char * text, size_t limit) {
    const llama_vocab * vocab = llama_model_get_vocab(model);
    const llama_token sep = llama_vocab_sep(vocab);
    const llama_token eos = llama_vocab_eos(vocab) == LLAMA_TOKEN_NULL ? sep : llama_vocab_eos(vocab);
    const bool ends = llama_vocab_get_add_eos(vocab), parts = llama_vocab_get_add_sep(vocab);
    std::vector<llama_token> q = tokenize(model, query, false), t = tokenize(model, text, false), out;
    const size_t room = limit > 8 ? limit - 4 : 4; // 4 marks at most
    q.resize(std::min(q.size(), std::max(room / 2, room - std::min(room, t.size()))));
    t.resize(std::min(t.size(), room - q.size()));
    if (llama_vocab_get_add_bos(vocab)) {
        out.push_back(llama_vocab_bos(vocab));
    }
    out.insert(out.end(), q.begin(), q.end());
    if (ends) {
        out.push_back(eos);
    }
    if (parts) {
        out.push_back(sep);
    }
    out.insert(out.end(), t.begin(), t.end());
    if (ends || parts) { // llama-server leaves out the last mark of BERT
        out.push_back(ends ? eos : sep);
    }
    return out;
}

int rank(const char * query, const char * text, float * out) {
    if (!latest || !ranks(latest)) {
        return 1;
    }
    if (!ranker && !(ranker = new_context(latest, LLAMA_POOLING_TYPE_RANK))) {
        return 3;
    }
    std::vector<llama_token> tokens = pair(latest, query, text, llama_n_batch(ranker));
    if (tokens.empty()) {
        return 2;
    }
    llama_memory_t memory = llama_get_memory(ranker); // an encoder has none
    llama_batch batch = llama_batch_get_one(tokens.data(), (int32_t) tokens.size());
    if (memory) {
        llama_memory_clear(memory, true);
    }
    if ((memory ? llama_decode(ranker, batch) : llama_encode(ranker, batch)) != 0) {
        return 3;
    }
    const float * v = llama_get_embeddings_seq(ranker, 0);
    if (!v || !std::isfinite(v[0])) {
        return 3;
    }
    *out = v[0];
    return 0;
}

// forget drops what belongs to the latest model.
void forget() {
    if (ranker) {
        llama_free(ranker);
    }
    latest = nullptr, ranker = nullptr;
}

} // namespace

// load_library prepares llama.cpp once. The level is not looked at.
EXPORT uintptr_t load_library(int) {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    llama_log_set(on_log, nullptr);
    ggml_backend_load_all_from_path(own_folder().c_str());
    llama_backend_init();
    return 0;
}

// load_model reads a GGUF file. gpu_layers is how many layers go to the GPU,
// UINT32_MAX for all. It gives null if it can't.
EXPORT llama_model * load_model(const char * path, uint32_t gpu_layers) try {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    llama_model_params p = llama_model_default_params();
    const char * wanted = getenv("CTXD_LLAMA_DEVICE");
    ggml_backend_dev_t devices[2] = {nullptr, nullptr};
    if (gpu_layers > 0) {
        devices[0] = choose(wanted);
        if (!devices[0] && wanted && *wanted) {
            return nullptr;
        }
    }
    p.devices = devices; // an empty list is the processor
    p.n_gpu_layers = devices[0] ? (int32_t) gpu_layers : 0;
    said_offloaded = said_layers = 0;
    llama_model * model = llama_model_load_from_file(path, p);
    if (!model) {
        return nullptr;
    }
    facts f;
    f.layers = said_layers > 0 ? said_layers : llama_model_n_layer(model) + 1; // llama.cpp counts the last step as one
    if (devices[0] && said_offloaded > 0) {
        f.offloaded = said_offloaded;
        f.device = std::string(ggml_backend_dev_description(devices[0])) + " (" + ggml_backend_dev_name(devices[0]) + ")";
    }
    forget();
    latest = model;
    latest_facts = f;
    return model;
} catch (...) {
    fputs("loading the model failed\n", stderr);
    return nullptr;
}

// load_context makes what embeds with a model; size and embeddings are not
// looked at.
EXPORT llama_context * load_context(llama_model * model, uint32_t, bool) try {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    llama_context * ctx = new_context(model, LLAMA_POOLING_TYPE_UNSPECIFIED);
    if (ctx && llama_pooling_type(ctx) == LLAMA_POOLING_TYPE_RANK) {
        llama_free(ctx);
        fputs("the model is made for reranking and gives no vectors\n", stderr);
        return nullptr;
    }
    if (ctx && llama_pooling_type(ctx) == LLAMA_POOLING_TYPE_NONE) {
        llama_free(ctx);
        ctx = new_context(model, LLAMA_POOLING_TYPE_MEAN);
    }
    return ctx;
} catch (...) {
    return nullptr;
}

EXPORT void free_model(llama_model * model) {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    if (model == latest) {
        forget();
    }
    llama_model_free(model);
}

EXPORT void free_context(llama_context * ctx) {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    llama_free(ctx);
}

// embed_size is the number of values of a vector, -1 for a model that has none
// of a text.
EXPORT int32_t embed_size(llama_model * model) {
    return llama_model_has_encoder(model) && llama_model_has_decoder(model) ? -1 : llama_model_n_embd(model);
}

// embed_text writes the vector of a text, of length 1, into out, which holds
// embed_size values. It gives 0, or 1 for a text of too many tokens, 2 for one
// of none, 3 if llama.cpp failed, 4 on anything else.
EXPORT int embed_text(llama_context * ctx, const char * text, float * out, uint32_t * out_tokens) try {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    return embed(ctx, text, out, out_tokens);
} catch (...) {
    return 4;
}

// ctxd_rank writes how well a text answers a question into out: the logit of the model
// that was loaded last. It gives 0, or 1 if that is not made for it, 2 for no tokens,
// 3 if llama.cpp failed, 4 on anything else. Texts of too many tokens are cut.
EXPORT int32_t ctxd_rank(const char * query, const char * text, float * out) try {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    return rank(query, text, out);
} catch (...) {
    return 4;
}

// ctxd_describe writes what is known of the model that was loaded last into out
// as JSON with a NUL, and gives its length, or -1 if there is no room or no
// model. kelindar/search does not give its handle of the model away.
EXPORT int32_t ctxd_describe(char * out, uint32_t size) try {
    std::lock_guard<std::mutex> hold(one_at_a_time);
    llama_model * model = latest;
    if (!model) {
        return -1;
    }
    char name[256] = "", kind[256] = "";
    llama_model_meta_val_str(model, "general.name", name, sizeof name);
    llama_model_desc(model, kind, sizeof kind);
    const facts & f = latest_facts;
    std::string s = "{\"name\":" + quoted(name) + ",\"kind\":" + quoted(kind) + ",\"device\":" + quoted(f.device) +
                    ",\"layers\":" + std::to_string(f.layers) + ",\"offloadedLayers\":" + std::to_string(f.offloaded) +
                    ",\"contextLength\":" + std::to_string(llama_model_n_ctx_train(model)) +
                    ",\"maxTokens\":" + std::to_string(std::min(max_tokens, llama_model_n_ctx_train(model))) +
                    ",\"ranks\":" + (ranks(model) ? "true" : "false") +
                    ",\"threads\":" + std::to_string(threads()) + "}";
    if (s.size() + 1 > size) {
        return -1;
    }
    memcpy(out, s.c_str(), s.size() + 1);
    return (int32_t) s.size();
} catch (...) {
    return -1;
}
