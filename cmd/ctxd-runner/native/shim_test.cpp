// The test of libllama_go: build.sh runs it on each library that it builds.
//
//   shim_test LIBRARY MODEL RANKER
//
// MODEL and RANKER are tiny.gguf and tiny-rank.gguf in context/embed/testdata.

#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define CHECK(what)                                            \
    do {                                                       \
        if (!(what)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            exit(1);                                           \
        }                                                      \
    } while (0)

static void * library;

template <typename F> static F * find(const char * name) {
    void * f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "no function %s\n", name);
        exit(1);
    }
    return (F *) f;
}

int main(int argc, char ** argv) {
    CHECK(argc == 4);
    library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    auto load_library = find<uintptr_t(int)>("load_library");
    auto load_model = find<void *(const char *, uint32_t)>("load_model");
    auto load_context = find<void *(void *, uint32_t, bool)>("load_context");
    auto free_model = find<void(void *)>("free_model");
    auto free_context = find<void(void *)>("free_context");
    auto embed_size = find<int32_t(void *)>("embed_size");
    auto embed_text = find<int(void *, const char *, float *, uint32_t *)>("embed_text");
    auto describe = find<int32_t(char *, uint32_t)>("ctxd_describe");

    auto rank = find<int32_t(const char *, const char *, float *)>("ctxd_rank");

    char said[4096];
    float score = 7;
    load_library(2);
    CHECK(describe(said, sizeof said) == -1); // nothing is loaded
    CHECK(rank("a", "b", &score) == 1);
    CHECK(load_model("/none", 0) == nullptr);
    void * model = load_model(argv[2], 0);
    CHECK(model != nullptr);
    CHECK(embed_size(model) == 32);
    CHECK(describe(said, 10) == -1); // no room
    CHECK(describe(said, sizeof said) == (int32_t) strlen(said));
    CHECK(strstr(said, "\"name\":\"tiny\"") && strstr(said, "\"device\":\"cpu\"") && strstr(said, "\"layers\":3,\"offloadedLayers\":0"));

    void * context = load_context(model, 0, true);
    CHECK(context != nullptr);
    const int dims = 32;
    auto embed = [&](const std::string & text, std::vector<float> & v, uint32_t & tokens) {
        v.assign(dims + 1, 7); // one behind the end, which must stay
        int code = embed_text(context, text.c_str(), v.data(), &tokens);
        CHECK(v[dims] == 7);
        return code;
    };
    std::vector<float> first, again, other;
    uint32_t tokens = 0;
    CHECK(embed("hello world", first, tokens) == 0 && tokens == 12);
    double squares = 0;
    for (int i = 0; i < dims; i++) {
        squares += (double) first[i] * first[i];
    }
    CHECK(std::fabs(squares - 1) < 1e-5);
    CHECK(embed("", other, tokens) == 0 && tokens == 2);
    CHECK(other != first);
    CHECK(embed("[CLS]", other, tokens) == 0 && tokens > 3); // text, no token of its own

    // 512 tokens fit with the two around them, 513 do not and end nothing.
    std::string words;
    for (int i = 0; i < 510; i++) {
        words += "note ";
    }
    CHECK(embed(words, other, tokens) == 0 && tokens == 512);
    CHECK(embed(words + "note", other, tokens) == 1 && tokens == 513);
    CHECK(embed(std::string(1 << 20, 'x'), other, tokens) == 1 && tokens > 1000000);
    CHECK(embed("hello world", again, tokens) == 0 && again == first);

    // Contexts that are used at once give the vectors that one alone gives.
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            void * own = load_context(model, 0, true);
            for (int i = 0; i < 20; i++) {
                std::vector<float> v(dims + 1, 7);
                uint32_t n = 0;
                if (embed_text(own, "hello world", v.data(), &n) != 0 || v != first) {
                    wrong++;
                }
            }
            free_context(own);
        });
    }
    for (auto & t : threads) {
        t.join();
    }
    CHECK(wrong == 0);
    CHECK(strstr(said, "\"ranks\":false") && rank("a", "b", &score) == 1 && score == 7);
    free_context(context);
    free_model(model);
    CHECK(describe(said, sizeof said) == -1);

    // A model for reranking gives scores of any length of text, and no vectors.
    model = load_model(argv[3], 0);
    CHECK(model != nullptr && load_context(model, 0, true) == nullptr);
    CHECK(describe(said, sizeof said) > 0 && strstr(said, "\"ranks\":true"));
    const std::string many(1 << 20, 'x');
    float same = 0, turned = 0;
    CHECK(rank("search note", "index of words", &score) == 0 && rank("index of words", "search note", &turned) == 0 && score != turned);
    CHECK(rank("search note", many.c_str(), &same) == 0 && rank(many.c_str(), "note", &same) == 0 && rank(many.c_str(), many.c_str(), &same) == 0);
    CHECK(rank("", "", &same) == 0 && rank("search note", "index of words", &same) == 0 && same == score);
    free_model(model);
    CHECK(rank("a", "b", &score) == 1);
    puts("libllama_go: all checks pass");
    return 0;
}
